import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ErrorKey } from '../../../shared/api/error-catalogue.ts'
import type { Route } from '../../../shared/api/route.ts'
import { ENDPOINTS } from '../../../shared/api/routes.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { DUE_PARTITION_PREFIX, parseDueKey } from '../../../shared/store/keys/due.ts'
import { ANNOUNCED_PARTITION_PREFIX, parseAnnouncedKey } from '../../../shared/store/keys/events.ts'
import { type Key, shortId } from '../../../shared/store/keys/key.ts'
import { PROVIDER_PARTITION_PREFIX } from '../../../shared/store/keys/messages.ts'
import { patientWriter } from '../../../shared/store/patients/patient-writer.ts'
import { issueCredential } from '../../support/credentials.ts'
import { call } from '../../support/event.ts'
import { handlerOf, stubFunctionEnvironment } from '../../support/functions.ts'
import { mockClient } from '../../support/mock-client.ts'
import { createPopulatedClinic, createRecord, createWebhookWithDeliveries } from '../../support/records.ts'
import { property } from '../../support/scale.ts'
import { aPatient, freshTable, type TestTable } from '../../support/table.ts'

type Known = {
  /** Every id of the clinic that the test created or a response contained. */
  readonly ids: Set<string>
  /** One record of each kind. */
  readonly patient: string
  readonly doctor: string
  readonly treatment: string
  readonly appointment: string
  /** Appointments that can still be closed. */
  readonly open: string[]
  readonly invoice: string
  readonly payment: string
  readonly message: string
  readonly webhook: string
  readonly delivery: string
  readonly credential: Awaited<ReturnType<typeof issueCredential>>
}

const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const sns = mockClient(SNSClient)
const sqs = mockClient(SQSClient)

let db: TestTable
const clinics: Known[] = []

beforeAll(async () => {
  db = await freshTable()
  stubFunctionEnvironment(db.name)
  for (let n = 0; n < 3; n++) {
    // The same names in every clinic: only the clinic distinguishes them.
    const { clinic, patient, ...records } = await createPopulatedClinic(
      db.table,
      aPatient({ firstName: 'Ada0', lastName: 'Kaya' }),
    )
    const patients = Array.from({ length: 30 }, (_, at) =>
      aPatient({ firstName: `Ada${at % 5}`, lastName: 'Kaya' }),
    )
    await patientWriter(db).createMany(clinic.id, patients.slice(0, 15))
    await patientWriter(db).createMany(clinic.id, patients.slice(15))
    const { webhook, deliveries } = await createWebhookWithDeliveries(db.table, clinic)
    const all = [patient, ...patients, ...Object.values(records), ...records.invoice.lineItems]
    const open = Array.from({ length: 3 }, newUuid)
    for (const id of open)
      await createRecord(db.table, clinic, appointmentStore(db), { ...records.appointment, id })
    const ids = [...open, ...[clinic, ...all, webhook, ...deliveries].map(({ id }) => id)]
    const events = deliveries.map(({ eventId }) => eventId.replace('evt_', ''))
    clinics.push({
      ids: new Set([...ids, ...events]),
      patient: patient.id,
      doctor: records.doctor.id,
      treatment: records.treatment.id,
      appointment: records.appointment.id,
      open,
      invoice: records.invoice.id,
      payment: records.payment.id,
      message: records.message.id,
      webhook: webhook.id,
      delivery: deliveries[0].id,
      credential: await issueCredential(db.table, clinic),
    })
  }
})

beforeEach(() => {
  sns.reset()
  sqs.reset()
  sns.on(PublishCommand).callsFake(async () => ({ MessageId: newUuid() }))
  sqs.on(SendMessageCommand).resolves({})
  sqs.on(SendMessageBatchCommand).resolves({})
})

type Touched = Key & Record<string, unknown>

/** Every key in the input of a DynamoDB call, with the other attributes of the item. A query has no sort key. */
function touchedBy(input: unknown): Touched[] {
  if (typeof input !== 'object' || input === null) return []
  const { pk, sk = '', ':pk': asked } = input as Record<string, unknown>
  const known = [pk, asked].flatMap((of) =>
    typeof of === 'string' ? [{ ...input, pk: of, sk: String(sk) }] : [],
  )
  return [...known, ...Object.values(input).flatMap(touchedBy)]
}

/** The clinic of an item that is not in a clinic's own partitions. */
function ownerOf(item: Touched): unknown {
  if (item.pk.startsWith(ANNOUNCED_PARTITION_PREFIX)) return parseAnnouncedKey(item).clinic
  if (/^due#(message|delivery|copies)#\d+$/.test(item.pk)) return parseDueKey(item).clinic
  if (item.pk.startsWith(PROVIDER_PARTITION_PREFIX)) return item.c
  throw new Error(`the test does not know the owner of ${item.pk}`)
}

/** The kinds of ids in paths, by the error for an unknown one. */
const PATH_IDS: Partial<Record<ErrorKey, keyof Known>> = {
  patient_not_found: 'patient',
  doctor_not_found: 'doctor',
  treatment_not_found: 'treatment',
  appointment_not_found: 'appointment',
  invoice_not_found: 'invoice',
  payment_not_found: 'payment',
  message_not_found: 'message',
  webhook_not_found: 'webhook',
  delivery_not_found: 'delivery',
}

/** The ids that a request uses, of one clinic or of several. */
type Named = Omit<Known, 'ids' | 'credential' | 'open'>

const KINDS = [
  'patient',
  'doctor',
  'treatment',
  'appointment',
  'invoice',
  'payment',
  'message',
  'webhook',
  'delivery',
] as const satisfies (keyof Named)[]

const pathOf = (route: Route, named: Named): Record<string, string> =>
  Object.fromEntries(
    Object.entries(route.params ?? {}).map(([name, notFound]) => {
      const kind = PATH_IDS[notFound]
      if (!kind) throw new Error(`add the kind of record for ${notFound} to PATH_IDS`)
      return [name, named[kind as keyof Named]]
    }),
  )

let days = 0

/** A valid body, if all ids in it belong to the clinic. */
function bodyOf(route: Route, { patient, doctor }: Named): object {
  const date = new Date(Date.UTC(2030, 0, 7 + 7 * days++)).toISOString().slice(0, 10)
  const bodies: Record<string, object> = {
    'create-patient': { first_name: 'Ada9', last_name: 'Kaya' },
    'create-appointment': {
      patient_id: patient,
      doctor_id: doctor,
      appointment_date: date,
      start_time: '09:00',
    },
    'send-message': { channel: days % 2 ? 'sms' : 'email', patient_id: patient, message: 'See you' },
    'create-webhook': { url: 'https://example.com/', events: ['patient.created'] },
    'update-patient': { last_name: `Kaya${days}` },
    'update-webhook': { is_active: days % 2 === 0, description: `no. ${days}` },
  }
  return bodies[route.id] ?? {}
}

/** Makes a request, and checks that everything it read, wrote, queued and returned belongs to the caller's clinic. */
async function asked(caller: Known, route: Route, named: Named, query: Record<string, string> = {}) {
  const send = vi.spyOn(DynamoDBDocumentClient.prototype, 'send')
  const { status, text } = await call(await handlerOf(route), {
    method: route.method,
    path: pathOf(route, named),
    query,
    ...(route.body && { body: JSON.stringify(bodyOf(route, named)) }),
    headers: { ...caller.credential.headers, 'content-type': 'application/json' },
  })
  const touched = send.mock.calls.flatMap(([command]) => touchedBy(command.input))
  send.mockRestore()
  const { key, clinic } = caller.credential
  expect(touched.length).toBeGreaterThan(0)
  for (const one of touched) {
    if ([`credential#${key}`, `usage#${key}`].includes(one.pk)) continue
    if (one.pk.startsWith(`${shortId(clinic.id)}#`)) continue
    expect(ownerOf(one)).toBe(clinic.id)
  }
  const queued = [
    ...sqs.commandCalls(SendMessageCommand).map(({ args }) => args[0].input),
    ...sqs.commandCalls(SendMessageBatchCommand).flatMap(({ args }) => args[0].input.Entries ?? []),
  ].map(({ MessageBody = '' }) => JSON.parse(MessageBody))
  sqs.resetHistory()
  for (const message of queued) expect(message.clinic).toBe(clinic.id)
  const others = clinics.filter((other) => other !== caller)
  const isTheirs = (uuid: string) => others.some(({ ids }) => ids.has(uuid))
  // From now on, ids that a write created belong to the clinic.
  if (route.method !== 'GET')
    for (const uuid of JSON.stringify(touched).match(UUIDS) ?? []) if (!isTheirs(uuid)) caller.ids.add(uuid)
  // A cursor at the end of the list is returned as it was sent.
  const shown = (text.match(UUIDS) ?? []).filter((uuid) => uuid !== query.after)
  expect(shown.filter((uuid) => isTheirs(uuid) || !caller.ids.has(uuid))).toEqual([])
  return { status, families: touched.map(({ pk }) => pk.split('#').slice(0, 2).join('#')) }
}

describe("a request stays within the credential's clinic", () => {
  const anyone = fc.constantFrom(0, 1, 2)
  const anyKind = fc.constantFrom<keyof Named>(...KINDS)

  it.each(ENDPOINTS.filter(({ id }) => id !== 'delete-webhook').map((route) => [route.id, route] as const))(
    '%s succeeds, and touches no other clinic',
    async (id, route) => {
      const [mine, theirs] = clinics as [Known, Known]
      const query: Record<string, string> =
        id === 'get-availability' ? { doctor_id: mine.doctor, date: '2031-01-06' } : {}
      const isClosing = /^(cancel|complete|no-show)-appointment$/.test(id)
      const named = isClosing ? { ...mine, appointment: mine.open.pop() ?? '' } : mine
      const answers = [await asked(mine, route, named, query)]
      // Once for each channel.
      if (id === 'send-message') answers.push(await asked(mine, route, mine))
      for (const { status } of answers) expect(status).toBeLessThan(300)
      // Proves that the checks of due items, which all clinics share, had items to check.
      const families = new Set(answers.flatMap((answer) => answer.families))
      const due = [...families].filter((family) => family.startsWith(DUE_PARTITION_PREFIX)).sort()
      expect(due).toEqual(DUE[id] ?? [])
      const names = route.params !== undefined || /create-appointment|send-message/.test(id)
      if (names) expect((await asked(mine, route, theirs)).status).toBe(404)
    },
  )

  it('delete-webhook succeeds, and touches no other clinic', async () => {
    const [, mine, theirs] = clinics as [Known, Known, Known]
    const route = ENDPOINTS.find(({ id }) => id === 'delete-webhook') as Route
    expect((await asked(mine, route, theirs)).status).toBe(404)
    expect((await asked(mine, route, mine)).status).toBe(204)
  })

  it('random requests with ids of all clinics touch no other clinic', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyone,
        fc.constantFrom(...ENDPOINTS.map(({ id }) => id)),
        fc.record(Object.fromEntries(KINDS.map((kind) => [kind, anyone]))),
        fc.record(
          {
            page: fc.constantFrom('1', '2'),
            limit: fc.constantFrom('1', '100'),
            search: fc.constantFrom('kaya', '0532', 'ada1', ''),
            patient_id: fc.tuple(anyone, anyKind),
            doctor_id: fc.tuple(anyone, anyKind),
            invoice_id: fc.tuple(anyone, anyKind),
            from: fc.constant('2026-01-01'),
            date_to: fc.constant('2026-12-31'),
            after: fc.oneof(fc.tuple(anyone, anyKind), fc.constantFrom('0', '3', '9999999999', '-')),
            event: fc.constantFrom('patient.created', 'email.delivered', 'sms.sent'),
          },
          { requiredKeys: [] },
        ),
        async (at, id, owners, filters) => {
          const route = ENDPOINTS.find((one) => one.id === id) as Route
          const chosen = (of: string | [number, keyof Named]) =>
            typeof of === 'string' ? of : (clinics[of[0]] as Known)[of[1]]
          const entries = Object.entries(filters).map(([name, value]) => [name, chosen(value as string)])
          const query = entries.filter(([name]) => (name as string) in (route.query?.shape ?? {}))
          const named = Object.fromEntries(
            Object.entries(owners).map(([kind, owner]) => [
              kind,
              (clinics[owner] as Known)[kind as keyof Named],
            ]),
          ) as Named
          await asked(clinics[at] as Known, route, named, Object.fromEntries(query))
        },
      ),
      property(150, 5000),
    )
  })
})

/** The due items that each route writes for background functions. */
const DUE: Record<string, string[]> = {
  'create-patient': ['due#event'],
  'update-patient': ['due#copies', 'due#event'],
  'deactivate-patient': ['due#event'],
  'activate-patient': ['due#event'],
  'create-appointment': ['due#event'],
  'confirm-appointment': ['due#event'],
  'check-in-appointment': ['due#event'],
  'complete-appointment': ['due#event'],
  'cancel-appointment': ['due#event'],
  'no-show-appointment': ['due#event'],
  'send-message': ['due#event', 'due#message'],
  'ping-webhook': ['due#delivery'],
  redeliver: ['due#delivery'],
}
