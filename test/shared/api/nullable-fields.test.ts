/** Each field of a response that can be null has its record's value: every list and record is read from a clinic that has all values. */
import { beforeAll, expect, it } from 'vitest'
import type { Route } from '../../../shared/api/route.ts'
import { ENDPOINTS } from '../../../shared/api/routes.ts'
import { deliverEvent } from '../../../shared/delivery/webhooks/deliver-event.ts'
import { SCOPES } from '../../../shared/domain/scope.ts'
import type { Schema } from '../../../shared/openapi/read-document.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import { patientWriter } from '../../../shared/store/patients/patient-writer.ts'
import { issueCredential } from '../../support/credentials.ts'
import { deliverySimulation, httpResponse } from '../../support/deliveries.ts'
import { operationOf, type Response, resolveRef } from '../../support/document-conformance.ts'
import { filledPatient, filledRecords } from '../../support/filled-records.ts'
import { request, tableOfFunctions } from '../../support/functions.ts'
import { createDeliveries, createRecord } from '../../support/records.ts'
import { createRouteSamples, newHold, requestOf, type SampleIds } from '../../support/route-samples.ts'
import { aPatient, newClinic } from '../../support/table.ts'

/** Null in every response of this test. */
const ALWAYS_NULL = [
  // An erased patient has no other values.
  'erased_at',
  // An attempt has a status or an error.
  'last_success.error',
  'last_failure.response_status',
]

const db = tableOfFunctions()
let ids: SampleIds
let headers: Record<string, string>

beforeAll(async () => {
  const contact = {
    address: '1 Road',
    phoneNumber: '+905321234567',
    emailAddress: 'a@b.example',
    website: 'b.example',
  }
  const clinic = await newClinic(db.table, contact)
  const patient = filledPatient()
  const samples = await createRouteSamples(db.table, { clinic, patient, webhook: { description: 'All' } })
  headers = (await issueCredential(db.table, clinic, SCOPES, '2100-01-01T00:00:00Z')).headers
  const { appointment, invoice, payment, message } = filledRecords(patient)
  await createRecord(db.table, clinic, appointmentStore(db), appointment)
  await createRecord(db.table, clinic, invoiceStore(db), invoice)
  await createRecord(db.table, clinic, paymentStore(db), payment)
  await createRecord(db.table, clinic, messageStore(db), message)
  await patientWriter(db).createMany(clinic.id, [aPatient()])
  ids = {
    ...samples.ids,
    ...(await newHold(db.table, samples)),
    appointment_not_found: appointment.id,
    invoice_not_found: invoice.id,
    payment_not_found: payment.id,
    message_not_found: message.id,
  }
  const send = async (id: string, key: keyof SampleIds | null, body: object) =>
    expect((await request(id, { path: key ? { id: ids[key] } : {}, headers, body })).status).toBeLessThan(300)
  await send('update-doctor', 'doctor_not_found', { specialty: 'Surgery', external_id: 'd' })
  const hours = { start_time: '10:00', end_time: '11:00' }
  await send('create-time-off', 'doctor_not_found', { from: '2030-01-08', reason: 'Leave', ...hours })
  await send('create-holiday', null, { from: '2030-01-09', name: 'Holiday' })
  await send('update-treatment', 'treatment_not_found', { description: 'Care' })
  const valid = { valid_from: '2026-01-01', valid_to: '2026-12-31' }
  await send('update-price-list', 'price_list_not_found', valid)
  await send('update-patient', 'patient_not_found', { notes: 'Changed' })
  const results = [httpResponse(200), { kind: 'failed', reason: 'connection_refused', latencyMs: 1 } as const]
  const { dependencies } = deliverySimulation(db.table, () => results.shift() ?? httpResponse(200))
  const [one, other] = await createDeliveries(db.table, clinic, samples.webhook)
  for (const { id } of [one, other ?? one])
    await deliverEvent(
      dependencies,
      { clinic: clinic.id, webhook: samples.webhook.id, delivery: id },
      'quick',
    )
})

/** The fields that can be null, by path, with whether one of the values has something there. */
function nullable(schema: Schema, values: readonly any[], path = ''): Map<string, boolean> {
  const { anyOf = [], oneOf = [], items, properties = {}, type } = resolveRef(schema)
  const present = values.filter((value) => value !== null && value !== undefined)
  const isNullable = [type].flat().includes('null')
  const inner = [
    ...[...anyOf, ...oneOf].map((one) => nullable(one, values, path)),
    ...(items ? [nullable(items, present.flat(), `${path}[]`)] : []),
    ...Object.entries(properties).map(([name, one]) =>
      nullable(
        one,
        present.map((value) => value[name]),
        `${path}.${name}`,
      ),
    ),
  ]
  return new Map([
    ...(isNullable ? [[path, present.length > 0] as const] : []),
    ...inner.flatMap((map) => [...map]),
  ])
}

const READS: readonly Route[] = ENDPOINTS.filter(({ method }) => method === 'GET')

it.each(READS.map((route) => [route.id, route] as const))('%s', async (_, route) => {
  const { query, ...sent } = requestOf(route, ids)
  const parameters = Object.entries({ expand: 'patient', limit: '1', date_to: '2030-01-09' })
  const more = parameters
    .filter(([name]) => name in (route.query?.shape ?? {}))
    .map((one) => Object.fromEntries([one]))
  const responses = await Promise.all(
    [{}, ...more].map((one) => request(route.id, { ...sent, headers, query: { ...query, ...one } })),
  )
  const { content } = resolveRef<Response>(operationOf('GET', route.path)?.responses[200] ?? {})
  const { schema = {} } = content?.['application/json'] ?? {}
  const fields = nullable(
    schema,
    responses.map(({ body }) => body),
  )
  const empty = [...fields].filter(
    ([path, hasValue]) => !hasValue && !ALWAYS_NULL.some((end) => path.endsWith(end)),
  )
  expect(empty.map(([path]) => path)).toEqual([])
})
