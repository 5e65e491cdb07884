import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { CalendarDate, Uuid } from '../../../shared/api/schemas.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import type { CommandAccess, RequestAccess } from '../../../shared/observability/access.ts'
import { openClinic, requireTrailFile } from '../tool/connection.ts'
import { CommandFailure, formatTable, parseOption, print } from '../tool/output.ts'

type AccessOptions = { clinic: string; patient: string; from?: string; to?: string }
type Period = { readonly from: string | undefined; readonly to: string | undefined }

export function addAccessCommand(program: Command): void {
  program
    .command('access')
    .description('list who read or changed a patient on the local stack, oldest first; on AWS, use Athena')
    .requiredOption('--clinic <id>')
    .requiredOption('--patient <id>')
    .option('--from <date>', 'YYYY-MM-DD, in the time zone of the clinic')
    .option('--to <date>', 'YYYY-MM-DD, inclusive')
    .action(async (given: AccessOptions, command: Command) => {
      const patient = parseOption('patient', Uuid, given.patient.toLowerCase())
      const period = { from: dateOf('from', given.from), to: dateOf('to', given.to) }
      if (period.from !== undefined && period.to !== undefined && period.from > period.to)
        throw new CommandFailure('--from must not be after --to')
      const file = await requireTrailFile(command)
      const { clinic } = await openClinic(given, command)
      const data = []
      for await (const access of accessesIn(file))
        if (concerns(access, clinic, patient, period)) data.push(accessJson(access, clinic))
      const rows = data.map(({ at, who, source_ip, action, outcome }) => [
        at,
        who ?? 'no credential',
        source_ip ?? '-',
        action,
        String(outcome),
      ])
      print(command, { data }, formatTable(rows))
    })
}

const dateOf = (name: string, text: string | undefined): string | undefined =>
  text === undefined ? undefined : parseOption(name, CalendarDate, text)

type Access = RequestAccess | CommandAccess

async function* accessesIn(file: string): AsyncGenerator<Access> {
  for await (const line of createInterface({ input: createReadStream(file) }))
    yield JSON.parse(line) as Access
}

function concerns(access: Access, clinic: Clinic, patient: string, { from, to }: Period): boolean {
  if (access.clinic_id !== clinic.id || !access.records.some((id) => id.toLowerCase() === patient))
    return false
  const date = clinicTimestamp(access.timestamp, clinic.timezone).slice(0, 10)
  return (from === undefined || date >= from) && (to === undefined || date <= to)
}

const accessJson = (access: Access, { timezone }: Clinic) => ({
  at: clinicTimestamp(access.timestamp, timezone),
  who: 'route' in access ? access.credential : access.operator,
  source_ip: 'route' in access ? access.source_ip : null,
  action: 'route' in access ? access.route : `clinic ${access.command}`,
  outcome: access.outcome,
  request_id: access.request_id,
})
