import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { Uuid } from '../../../shared/api/schemas.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import type { Erasure } from '../../../shared/store/copies/erasure-ledger.ts'
import { CommandFailure } from '../tool/output.ts'

/** A line of `erasure list --to`. */
const LedgerLine = z.object({
  clinic_id: Uuid,
  patient_id: Uuid,
  erased_at: z.iso.datetime({ offset: true }),
  operator: z.string(),
  import_ids: z.array(Uuid).default([]),
})

/** A line of the access trail about a command that erased patients. */
const TrailLine = z.object({
  clinic_id: Uuid,
  command: z.literal('patient erase'),
  outcome: z.literal('done'),
  records: z.array(Uuid),
  timestamp: z.iso.datetime({ offset: true }),
  operator: z.string(),
})

/**
 * The erasures of a clinic in a file of NDJSON. Lines about anything else are skipped.
 * @throws CommandFailure for a line that is not JSON
 */
export function readErasures(file: string, clinic: ClinicId): Erasure[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((text, index) =>
    text.trim() === '' ? [] : erasuresOf(parse(text, file, index + 1), clinic),
  )
}

function erasuresOf(line: unknown, clinic: ClinicId): Erasure[] {
  const ledger = LedgerLine.safeParse(line).data
  const trail = TrailLine.safeParse(line).data
  if ((ledger ?? trail)?.clinic_id.toLowerCase() !== clinic) return []
  const patients = ledger ? [ledger.patient_id] : (trail?.records ?? [])
  const at = new Date(ledger?.erased_at ?? trail?.timestamp ?? '').toISOString()
  const operator = ledger?.operator ?? trail?.operator ?? ''
  const importIds = (ledger?.import_ids ?? []).map((id) => id.toLowerCase())
  return patients.map((patient) => ({
    patient: patient.toLowerCase(),
    at,
    operator,
    importIds,
    isFinished: true,
  }))
}

function parse(text: string, file: string, line: number): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CommandFailure(`${file}:${line}: is not JSON`)
  }
}
