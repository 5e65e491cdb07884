import type { ClinicId } from '../../domain/clinic.ts'
import { type Erasure, erasureLedger } from '../../store/copies/erasure-ledger.ts'
import { patientChanges } from '../../store/copies/patient-changes.ts'
import { patientStore } from '../../store/patients/patients.ts'
import type { Table } from '../../store/table/table.ts'

/** Patients by what a replay found and did. */
export type ReplayCounts = {
  readonly erased: number
  readonly already_erased: number
  /** Created after the time that was restored. The ledger has them now, so that no import creates them again. */
  readonly unknown: number
}

/** The erasures that a replay would change something for. */
export async function pendingErasures(
  table: Table,
  clinic: ClinicId,
  erasures: readonly Erasure[],
): Promise<Erasure[]> {
  const ids = [...new Set(erasures.map(({ patient }) => patient))]
  const [patients, ledger] = await Promise.all([
    patientStore({ table }).findMany(clinic, ids),
    erasureLedger({ table }).findMany(clinic, ids),
  ])
  const isDone = (id: string) => ledger.get(id)?.isFinished && (patients.get(id)?.erasedAt ?? true)
  return erasures.filter(({ patient }) => !isDone(patient))
}

/** Erases patients again whose erasure a restored table lacks, with the time and operator of their first erasure. */
export async function replayErasures(
  table: Table,
  clinic: ClinicId,
  erasures: readonly Erasure[],
): Promise<ReplayCounts> {
  const ledger = erasureLedger({ table })
  const patients = patientStore({ table })
  const counts = { erased: 0, already_erased: 0, unknown: 0 }
  for (const erasure of erasures) {
    const id = erasure.patient
    const patient = await patients.find(clinic, id)
    const isFinished = (await ledger.findMany(clinic, [id])).get(id)?.isFinished
    await ledger.addImportIds(clinic, erasure)
    if (!patient) {
      await ledger.finish(clinic, erasure)
      counts.unknown++
    } else if (patient.erasedAt && isFinished) counts.already_erased++
    else {
      await patientChanges(table).erase(clinic, id, erasure)
      counts.erased++
    }
  }
  return counts
}
