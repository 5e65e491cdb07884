import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import fc from 'fast-check'
import { beforeAll, expect, it, vi } from 'vitest'
import { ROUTES } from '../../shared/api/routes.ts'
import { shortId } from '../../shared/store/keys.ts'
import { patientEntry } from '../../shared/store/patient-entry.ts'
import { issued } from '../support/credentials.ts'
import { call } from '../support/event.ts'
import { functionEnvironment, handlerOf } from '../support/functions.ts'
import { populated } from '../support/records.ts'
import { property } from '../support/scale.ts'
import { aPatient, freshTable, type TestTable } from '../support/table.ts'

let db: TestTable
const clinics: { ids: string[]; credential: Awaited<ReturnType<typeof issued>> }[] = []

beforeAll(async () => {
  db = await freshTable()
  functionEnvironment(db.name)
  for (let n = 0; n < 3; n++) {
    // The same names in every clinic: only the clinic tells them apart.
    const { clinic, patient, ...records } = await populated(
      db.table,
      aPatient({ firstName: 'Ada0', lastName: 'Kaya' }),
    )
    const patients = Array.from({ length: 30 }, (_, at) =>
      aPatient({ firstName: `Ada${at % 5}`, lastName: 'Kaya' }),
    )
    await patientEntry(db).enter(clinic.id, patients)
    const ids = [patient, ...patients, ...Object.values(records), ...records.invoice.lineItems].map(
      ({ id }) => id,
    )
    clinics.push({ ids, credential: await issued(db.table, clinic) })
  }
})

/** Every partition key in the input of a DynamoDB call. */
function partitions(input: unknown): string[] {
  if (typeof input !== 'object' || input === null) return []
  return Object.entries(input).flatMap(([name, value]) =>
    (name === 'pk' || name === ':pk') && typeof value === 'string' ? [value] : partitions(value),
  )
}

it("keeps every read and write in the credential's clinic", async () => {
  const send = vi.spyOn(DynamoDBDocumentClient.prototype, 'send')
  const anyId = fc.constantFrom(...clinics.flatMap(({ ids }) => ids))
  await fc.assert(
    fc.asyncProperty(
      fc.nat(clinics.length - 1),
      fc.constantFrom(...ROUTES),
      anyId,
      fc.record(
        {
          page: fc.constantFrom('1', '2'),
          limit: fc.constantFrom('1', '100'),
          search: fc.constantFrom('kaya', '0532', 'ada1', ''),
          patient_id: anyId,
          doctor_id: anyId,
          invoice_id: anyId,
          from: fc.constant('2026-01-01'),
          date_to: fc.constant('2026-12-31'),
        },
        { requiredKeys: [] },
      ),
      async (at, route, id, filters) => {
        const clinic = clinics[at]
        if (!clinic) return
        send.mockClear()
        const query = Object.fromEntries(
          Object.entries(filters).filter(([name]) => name in (route.query?.shape ?? {})),
        )
        const path = Object.fromEntries(Object.keys(route.params ?? {}).map((name) => [name, id]))
        const body = JSON.stringify({
          patient_id: id,
          doctor_id: filters.doctor_id ?? id,
          appointment_date: '2030-01-07',
          start_time: '09:00',
        })
        const { text } = await call(await handlerOf(route), {
          method: route.method,
          path,
          query,
          ...(route.body && { body }),
          headers: { ...clinic.credential.headers, 'content-type': 'application/json' },
        })
        const { key, clinic: facts } = clinic.credential
        const touched = send.mock.calls.flatMap(([command]) => partitions(command.input))
        expect(touched.length).toBeGreaterThan(0)
        for (const pk of touched)
          expect(pk === `credential#${key}` || pk.startsWith(`${shortId(facts.id)}#`)).toBe(true)
        const shown = text.match(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g) ?? []
        if (route.method === 'GET') for (const uuid of shown) expect(clinic.ids).toContain(uuid)
      },
    ),
    property(200, 5000),
  )
})
