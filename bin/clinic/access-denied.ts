import type { Command } from 'commander'
import { COMMANDS, roleOutput } from '../../shared/operator/commands.ts'

const NAMES = new Set(['AccessDenied', 'AccessDeniedException', 'UnauthorizedOperation'])

/** Whether IAM has denied a call. */
export const isAccessDenied = (error: unknown): boolean =>
  error instanceof Error && (NAMES.has(error.name) || /^\d+ .*AccessDenied/s.test(error.message))

/** Which role a command needs, and what IAM has denied. */
export function describeDenial(command: Command | undefined, { message }: Error): string {
  const name = command ? nameOf(command) : ''
  const withOption = command?.opts().repair ? COMMANDS[`${name} --repair`] : undefined
  const role = (withOption ?? COMMANDS[name])?.role
  const needed = role
    ? `"${name}" needs the role "${role}": the output ${roleOutput(role)} of the stack has its ARN.`
    : 'The caller lacks a permission.'
  return `${needed} AWS: ${message}`
}

/** Such as `patient erase`, without the name of the program. */
export const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}`.trim() : ''
