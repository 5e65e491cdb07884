/** Writers of one clinic's head, on an engine with DynamoDB's latencies and transaction conflicts. */
import { expect, it } from 'vitest'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { UNREQUESTED } from '../../../../shared/store/table/idempotency.ts'
import { openTable } from '../../../../shared/store/table/table.ts'
import { freshRealisticTable, SHORT_LATENCY } from '../../../support/realistic-table.ts'
import { aPatient, newClinic } from '../../../support/table.ts'

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
    return patientWriter({ table: skewed }).create(clinic.id, aPatient(), UNREQUESTED)
  }
  const created = await Promise.allSettled(Array.from({ length: 6 }, (_, index) => create(index)))
  expect(created.filter(({ status }) => status === 'rejected')).toEqual([])
  expect((await patientStore({ table }).page(clinic.id, { page: 1, limit: 1 })).total).toBe(6)
})
