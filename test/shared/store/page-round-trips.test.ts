/** Any page of a list takes at most three round trips, one after the other, however long the list is: docs/architecture.md. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { beforeAll, expect, it } from 'vitest'
import { APPOINTMENT_STATUSES, type AppointmentStatus } from '../../../shared/domain/booking/appointment.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { addDays } from '../../../shared/domain/clock.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import type { CalendarFilter } from '../../../shared/store/calendar/calendar-filter.ts'
import { MAX_CREATED, patientWriter } from '../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import { patientSearch } from '../../../shared/store/patients/search.ts'
import { chunked } from '../../../shared/store/table/chunked.ts'
import { createRecord } from '../../support/records.ts'
import { anAppointment } from '../../support/sample-records.ts'
import { aPatient, freshSdkTable, newClinic, tableOfFile } from '../../support/table.ts'

const TOTAL = 150

const db = tableOfFile(freshSdkTable)
let clinic: Clinic
let measure: ReturnType<typeof roundTripMeter>
beforeAll(async () => {
  clinic = await newClinic(db.table)
  measure = roundTripMeter(db.client)
})

/** Counts the calls that some work makes one after the other. Nothing else may use the client in the meantime. */
function roundTripMeter(client: DynamoDBDocumentClient) {
  let depth = 0
  client.middlewareStack.add(
    (next) => async (args) => {
      const chained = depth + 1
      const output = await next(args)
      depth = Math.max(depth, chained)
      return output
    },
    { step: 'initialize' },
  )
  return async <T>(work: () => Promise<T>) => {
    depth = 0
    return { result: await work(), roundTrips: depth }
  }
}

it('of appointments, with every filter', async () => {
  const person = { id: newUuid(), fullName: 'Ada Kaya' }
  for (let n = 0; n < TOTAL; n++)
    await createRecord(
      db.table,
      clinic,
      appointmentStore(db),
      anAppointment({
        ...{ id: newUuid(), patient: person, doctor: person },
        ...{ date: addDays('2025-01-01', 5 * n), status: APPOINTMENT_STATUSES[n % 2] },
      }),
    )
  for (const filter of [
    {},
    { patient: person.id },
    { doctor: person.id },
    { facets: [APPOINTMENT_STATUSES[0]] },
    { from: '2025-02-10', to: '2026-05-20' },
    { doctor: person.id, facets: [APPOINTMENT_STATUSES[1]], from: '2025-02-10' },
  ] satisfies CalendarFilter<AppointmentStatus>[])
    for (const page of [1, 4, 7]) {
      const { roundTrips } = await measure(() =>
        appointmentStore(db).page(clinic.id, filter, { page, limit: 20 }),
      )
      expect([filter, page, roundTrips <= 3]).toEqual([filter, page, true])
    }
})

it('of patients', async () => {
  for (const patients of chunked(
    Array.from({ length: TOTAL }, () => aPatient()),
    MAX_CREATED,
  ))
    await patientWriter(db).createMany(clinic.id, patients)
  for (const page of [1, 4, 8]) {
    const { result, roundTrips } = await measure(() => patientStore(db).page(clinic.id, { page, limit: 20 }))
    expect([page, result.total, roundTrips]).toEqual([page, TOTAL, 2])
    const active = await measure(() => patientSearch(db).search(clinic.id, '', { page, limit: 20 }, true))
    expect([page, active.result.total, active.roundTrips]).toEqual([page, TOTAL, 3])
  }
})
