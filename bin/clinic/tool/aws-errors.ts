/** Messages for the operator about errors of AWS. */
import type { Command } from 'commander'
import { roleOutput } from '../../../shared/operator/commands.ts'
import { nameOf } from './command-trail.ts'
import { roleOf } from './output.ts'

const NAMES = new Set(['AccessDenied', 'AccessDeniedException', 'UnauthorizedOperation'])

/** Whether IAM has denied a call. */
export const isAccessDenied = (error: unknown): boolean => error instanceof Error && NAMES.has(error.name)

/** Which role a command needs, and what IAM has denied. */
export function describeDenial(command: Command | undefined, { message }: Error): string {
  const name = command ? nameOf(command) : ''
  const role = command && roleOf(command)
  const needed = role
    ? `"${name}" needs the role "${role}": the output ${roleOutput(role)} of the stack has its ARN.`
    : 'The caller lacks a permission.'
  return `${needed} AWS: ${message}`
}

const EXPIRED = /ExpiredToken|RequestExpired|Token is expired|session .*(expired|invalid)/i
const UNKNOWN = /InvalidClientTokenId|UnrecognizedClient|InvalidSignature|SignatureDoesNotMatch/

/** Names the settings that the shell lacks to call AWS; null for any other error. */
export function describeMissingSettings(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const text = `${error.name} ${error.message}`
  if (error.message === 'Region is missing')
    return 'No AWS region is set. Set AWS_REGION to the region of the stack, or AWS_PROFILE to a profile that has one.'
  if (EXPIRED.test(text))
    return 'The AWS credentials have expired. Get new ones, for example with "aws sso login", and run the command again.'
  if (UNKNOWN.test(text))
    return 'AWS does not accept the credentials. Check AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.'
  if (/CredentialsProviderError|TokenProviderError/.test(error.name))
    return `No AWS credentials were found. Set AWS_PROFILE to a profile that has some. AWS: ${error.message}`
  return null
}
