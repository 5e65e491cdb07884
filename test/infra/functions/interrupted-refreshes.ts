import { eraseFields } from '../../../shared/domain/field-policy.ts'
import { PATIENT_FIELDS, type Patient } from '../../../shared/domain/patients/patient.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import { externalIds } from '../../../shared/store/external-ids/links.ts'
import { holidayStore } from '../../../shared/store/holidays.ts'
import { dueRefreshKey, patientOwner } from '../../../shared/store/keys/copies.ts'
import { patientWriter } from '../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import { Changeset } from '../../../shared/store/table/changeset.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { createPopulatedClinic, createRecord } from '../../support/records.ts'

/**
 * A holiday, a doctor who was renamed, and a patient, with an appointment that has an external id, who was erased by writers that crashed before they refreshed the copies, and a due
 * item without a mark, at the time of the table.
 */
export async function interruptRefreshes(table: Table): Promise<void> {
  const { clinic, patient, doctor, appointment, payment } = await createPopulatedClinic(table)
  const booked = await appointmentStore({ table }).find(clinic.id, appointment.id)
  const changes = new Changeset(table, clinic.id)
  await externalIds({ table }).move(changes, 'appointment', appointment.id, null, 'x')
  appointmentStore({ table }).change(changes, booked, { ...appointment, externalId: 'x' })
  await changes.commit()
  // A correction of the patient's invoice had moved its payment to another patient.
  const moved = { ...payment, id: newUuid(), patient: { id: newUuid(), fullName: 'Ada Kaya' } }
  await createRecord(table, clinic, paymentStore({ table }), moved)
  const [before] = (await patientStore({ table }).findMany(clinic.id, [patient.id])).values()
  const doctors = doctorStore({ table })
  const stored = await doctors.find(clinic.id, doctor.id)
  if (!before || !stored) throw new Error('the owners are missing')
  const erased = { ...before, ...eraseFields<Patient>(before, PATIENT_FIELDS), erasedAt: before.createdAt }
  await patientWriter({ table }).update(clinic.id, [{ before, after: erased }])
  const { version, ...renamed } = stored
  await doctors.save(clinic.id, [{ before: stored, after: { ...renamed, fullName: 'Dr. Crashed' } }])
  await holidayStore({ table }).set(clinic.id, () => [{ from: '2030-01-01', to: '2030-01-01', reason: null }])
  const superseded = { clinic: clinic.id, owner: patientOwner(newUuid()), at: table.now() }
  await table.transact([table.putWrite(dueRefreshKey(superseded))])
}
