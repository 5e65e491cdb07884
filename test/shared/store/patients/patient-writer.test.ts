/** Writers of one clinic's head, on an engine with DynamoDB's latencies and transaction conflicts. */
import { expect, it } from 'vitest'
import { type PatientFields, patientUpdates } from '../../../../shared/store/patients/patient-updates.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { UnavailableError } from '../../../../shared/store/table/errors.ts'
import { idempotencyGuard } from '../../../../shared/store/table/idempotency.ts'
import { openTable } from '../../../../shared/store/table/table.ts'
import { freshRealisticTable, SHORT_LATENCY } from '../../../support/realistic-table.ts'
import { aPatient, newClinic } from '../../../support/table.ts'

/** Concurrent writers of one patient. */
const OTHERS = 8

it.each([
  ['ten seconds', 10_000],
  ['an hour', 3_600_000],
])('creates every patient of a burst although the clocks of the functions differ by %s', async (_, skew) => {
  const { client, name, table } = await freshRealisticTable({ latency: SHORT_LATENCY })
  const clinic = await newClinic(table)
  const clocks = [() => Date.now(), () => Date.now() + skew, () => Date.now() - skew]
  const create = (index: number) => {
    const now = clocks[index % clocks.length] as () => number
    const skewed = openTable(client, name, { now })
    const request = {
      clinic: clinic.id,
      credential: 'ck',
      route: 'create-patient',
      key: undefined,
      body: '{}',
    }
    const guard = idempotencyGuard({ table: skewed, now }, request)
    return patientWriter({ table: skewed }).create(clinic.id, aPatient(), guard, 201, () => ({}))
  }
  const created = await Promise.allSettled(Array.from({ length: 6 }, (_, index) => create(index)))
  expect(created.filter(({ status }) => status === 'rejected')).toEqual([])
  expect((await patientStore({ table }).page(clinic.id, { page: 1, limit: 1 })).total).toBe(6)
})

it('renames a patient in turn while others activate and deactivate the patient without a pause', async () => {
  const { client, name, table } = await freshRealisticTable({ latency: SHORT_LATENCY })
  const clinic = await newClinic(table)
  const patient = aPatient()
  await patientWriter({ table }).createMany(clinic.id, [patient])
  const change = (fields: (before: { readonly isActive: boolean }) => PatientFields) => {
    const own = openTable(client, name)
    const request = { clinic: clinic.id, credential: 'ck', route: 'change', key: undefined, body: '{}' }
    const idempotency = idempotencyGuard({ table: own, now: Date.now }, request)
    const response = () => ({})
    return patientUpdates({ table: own }).update(clinic.id, patient.id, fields, {
      idempotency,
      status: 200,
      response,
    })
  }
  let changes = 0
  let isRenamed = false
  const changeStatus = async () => {
    for (; !isRenamed; changes++)
      await change(({ isActive }) => ({ isActive: !isActive })).catch((error) => {
        // On a busy machine, the queue can be too long for one of the others.
        if (!(error instanceof UnavailableError)) throw error
      })
  }
  const others = Array.from({ length: OTHERS }, changeStatus)
  const changesBefore: number[] = []
  try {
    for (const lastName of ['Demir', 'Kaya', 'Aslan', 'Polat']) {
      const start = changes
      await change(() => ({ lastName }))
      changesBefore.push(changes - start)
    }
  } finally {
    isRenamed = true
    await Promise.all(others)
  }
  // Each of the others had its turn once. On a busy machine, a few have another one.
  expect(Math.max(...changesBefore)).toBeLessThanOrEqual(3 * OTHERS)
})
