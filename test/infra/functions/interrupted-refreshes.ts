import { eraseFields } from '../../../shared/domain/field-policy.ts'
import { PATIENT_FIELDS, type Patient } from '../../../shared/domain/patients/patient.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import { dueRefreshKey, patientOwner } from '../../../shared/store/keys/copies.ts'
import { patientWriter } from '../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { createPopulatedClinic } from '../../support/records.ts'

/**
 * A doctor who was renamed and a patient who was erased by writers that crashed before they refreshed the copies, and a due
 * item without a mark, at the time of the table.
 */
export async function interruptRefreshes(table: Table): Promise<void> {
  const { clinic, patient, doctor } = await createPopulatedClinic(table)
  const [before] = (await patientStore({ table }).findMany(clinic.id, [patient.id])).values()
  const doctors = doctorStore({ table })
  const stored = await doctors.find(clinic.id, doctor.id)
  if (!before || !stored) throw new Error('the owners are missing')
  const erased = { ...before, ...eraseFields<Patient>(before, PATIENT_FIELDS), erasedAt: before.createdAt }
  await patientWriter({ table }).update(clinic.id, [{ before, after: erased }])
  const { version, ...renamed } = stored
  await doctors.save(clinic.id, [{ before: stored, after: { ...renamed, fullName: 'Dr. Crashed' } }])
  const superseded = { clinic: clinic.id, owner: patientOwner(newUuid()), at: table.now() }
  await table.transact([table.putWrite(dueRefreshKey(superseded))])
}
