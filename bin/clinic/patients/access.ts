import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import * as z from 'zod'
import { CalendarDate, Uuid } from '../../../shared/api/schemas.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import type { RequestAccess } from '../../../shared/observability/access.ts'
import { WHOLE_CLINIC_COMMANDS } from '../../../shared/operator/commands.ts'
import { openClinic, requireTrailFiles } from '../tool/connection.ts'
import { CommandFailure, formatTable, parseOption, print } from '../tool/output.ts'

type AccessOptions = { patient: string; from?: string; to?: string }
type Period = { readonly from: string | undefined; readonly to: string | undefined }

export function addAccessCommand(command: Command): void {
  command
    .requiredOption('--patient <id>')
    .option('--from <date>', 'YYYY-MM-DD, in the time zone of the clinic')
    .option('--to <date>', 'YYYY-MM-DD, inclusive')
    .action(async (given: AccessOptions, command: Command) => {
      const patient = parseOption('patient', Uuid, given.patient.toLowerCase())
      const period = { from: dateOf('from', given.from), to: dateOf('to', given.to) }
      if (period.from !== undefined && period.to !== undefined && period.from > period.to)
        throw new CommandFailure('--from must not be after --to')
      const { clinic } = await openClinic(command)
      const files = await requireTrailFiles(command)
      const found: (ListedAccess & { readonly timestamp: string })[] = []
      for await (const access of linesOf<RequestAccess>(files.access))
        if (concerns(access, clinic, period) && names(access, patient))
          found.push({ ...access, who: access.credential, action: access.route, whole_clinic: false })
      for await (const line of linesOf<unknown>(files.operator)) {
        const { data: access } = CommandLine.safeParse(line)
        if (!access || !concerns(access, clinic, period)) continue
        const isWhole = (WHOLE_CLINIC_COMMANDS as readonly string[]).includes(access.command)
        if (isWhole || names(access, patient))
          found.push({
            ...access,
            who: access.operator,
            source_ip: null,
            action: `clinic ${access.command}`,
            whole_clinic: isWhole,
          })
      }
      const data = found
        .sort((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp))
        .map(({ timestamp, who, source_ip, action, outcome, request_id, whole_clinic }) => ({
          at: clinicTimestamp(timestamp, clinic.timezone),
          who,
          source_ip,
          action,
          outcome,
          request_id,
          whole_clinic,
        }))
      const rows = data.map(({ at, who, source_ip, action, outcome, whole_clinic }) => [
        at,
        who ?? 'no credential',
        source_ip ?? '-',
        whole_clinic ? `${action} (whole clinic)` : action,
        String(outcome),
      ])
      print(command, { data }, formatTable(rows))
    })
}

type ListedAccess = {
  readonly who: string | null
  readonly source_ip: string | null
  readonly action: string
  readonly outcome: string | number
  readonly request_id: string
  readonly whole_clinic: boolean
}

const dateOf = (name: string, text: string | undefined): string | undefined =>
  text === undefined ? undefined : parseOption(name, CalendarDate, text)

/** On one line, and without a gap that looks like the next column: a text must not read as the line of a request. */
const PrintedText = z.string().transform((text) => text.replace(/[\s\p{C}]+/gu, ' '))

/** What an operator wrote, and could have written with other tools: any line may be there. */
const CommandLine = z.object({
  timestamp: z.iso.datetime(),
  request_id: z.string(),
  clinic_id: z.string().nullable(),
  records: z.array(z.string()),
  operator: PrintedText,
  command: PrintedText,
  outcome: PrintedText,
})

async function* linesOf<Line>(file: string): AsyncGenerator<Line> {
  for await (const line of createInterface({ input: createReadStream(file) })) yield JSON.parse(line) as Line
}

type Line = Pick<RequestAccess, 'timestamp' | 'clinic_id' | 'records'>

/** A command that names no clinic reaches all. */
function concerns({ clinic_id, timestamp }: Line, clinic: Clinic, { from, to }: Period): boolean {
  if (clinic_id !== clinic.id && clinic_id !== null) return false
  const date = clinicTimestamp(timestamp, clinic.timezone).slice(0, 10)
  return (from === undefined || date >= from) && (to === undefined || date <= to)
}

const names = ({ clinic_id, records }: Line, patient: string): boolean =>
  clinic_id !== null && records.some((id) => id.toLowerCase() === patient)
