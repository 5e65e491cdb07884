/** The lines of a command of the operator tool in the access trail: one before its first call, and one at its end. */
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import {
  accessLines,
  type CommandAccess,
  isRecordId,
  recordIds,
} from '../../../shared/observability/access.ts'
import type { OperatorLog } from './operator-log.ts'

type Trail = {
  readonly operator: string
  readonly records: Set<string>
  /** The clinic that the command names, or that it turned out to concern. */
  clinic: string | null
  readonly write: (outcome: CommandAccess['outcome']) => Promise<void>
}

/** By program: a program runs one command. */
const trails = new WeakMap<Command, Trail>()

/** Writes the first line, unless it was written already. Rejects if that fails, so that nothing is done without a trace. */
export async function startTrail(
  command: Command,
  openLog: () => Promise<OperatorLog>,
  clinic: string | null = null,
): Promise<void> {
  const program = programOf(command)
  if (trails.has(program)) return
  const { operator, put } = await openLog()
  // An external id can have the form of an id of a record, and identifies the person elsewhere.
  const { clinic: _, externalId: __, ...options } = command.opts<{ clinic?: string; externalId?: string }>()
  const values = [...command.args, ...Object.values(options)].map(String)
  const records = new Set(values.filter(isRecordId).map(normalized))
  const call = {
    request_id: randomUUID(),
    operator,
    command: nameOf(command),
  }
  const trail: Trail = {
    operator,
    records,
    clinic,
    write: (outcome) => {
      const timestamp = new Date().toISOString()
      const line = { timestamp, ...call, clinic_id: trail.clinic, outcome, records: [...records] }
      return put(accessLines(line), Date.now())
    },
  }
  await trail.write('started')
  trails.set(program, trail)
}

/** Who runs the command, as its lines name them. @throws Error before the first line is written */
export function operatorOf(command: Command): string {
  const trail = trails.get(programOf(command))
  if (!trail) throw new Error('The command has no line in the access trail yet.')
  return trail.operator
}

/** Adds the clinic and the ids in a result that the command prints to its last line. */
export function addToTrail(command: Command, result: object & { readonly clinic_id?: unknown }): void {
  const trail = trails.get(programOf(command))
  if (!trail) return
  for (const id of recordIds(result)) trail.records.add(id)
  if (typeof result.clinic_id === 'string') trail.clinic ??= result.clinic_id
}

/** Writes the last line, if the command has made a call. */
export const endTrail = async (program: Command, outcome: 'done' | 'failed'): Promise<void> =>
  trails.get(program)?.write(outcome)

/** Ids of records are case-insensitive, keys of credentials are not. */
const normalized = (id: string): string => (id.startsWith('ck_') ? id : id.toLowerCase())

export const programOf = (command: Command): Command => (command.parent ? programOf(command.parent) : command)

/** The name of a command without the name of the program, such as `patient erase`. */
export const nameOf = (command: Command): string =>
  command.parent ? `${nameOf(command.parent)} ${command.name()}`.trim() : ''
