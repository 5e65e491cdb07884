import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import grants from '../../../docs/grants.json' with { type: 'json' }
import { SHARED_PARTITION_PREFIXES } from '../../../infra/functions/grants.ts'
import { RECORD_NOT_FOUND_KEYS, type RecordNotFoundKey } from '../../../shared/api/error-catalogue.ts'
import type { Route } from '../../../shared/api/route.ts'
import { ENDPOINTS } from '../../../shared/api/routes.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { DUE_PARTITION_PREFIX, parseDueKey } from '../../../shared/store/keys/due.ts'
import { ANNOUNCED_PARTITION_PREFIX, parseAnnouncedKey } from '../../../shared/store/keys/events.ts'
import { type Key, longId, shortId } from '../../../shared/store/keys/key.ts'
import { PROVIDER_PARTITION_PREFIX } from '../../../shared/store/keys/messages.ts'
import { ERASURE_PARTITION_PREFIX, IMPORT_PARTITION_PREFIX } from '../../../shared/store/keys/operator.ts'
import { patientWriter } from '../../../shared/store/patients/patient-writer.ts'
import { issueCredential } from '../../support/credentials.ts'
import { request, tableOfFunctions } from '../../support/functions.ts'
import { mockClient } from '../../support/mock-client.ts'
import { createDeliveries } from '../../support/records.ts'
import {
  createRouteSamples,
  idsOf,
  type RouteSamples,
  requestOf,
  type SampleIds,
} from '../../support/route-samples.ts'
import { property } from '../../support/scale.ts'
import { aPatient } from '../../support/table.ts'

type Known = {
  readonly samples: RouteSamples
  /** Every id of the clinic that the test created or a response contained. */
  readonly ids: Set<string>
  readonly credential: Awaited<ReturnType<typeof issueCredential>>
}

const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const sns = mockClient(SNSClient)
const sqs = mockClient(SQSClient)

const db = tableOfFunctions()
const clinics: Known[] = []

beforeAll(async () => {
  for (let n = 0; n < 3; n++) {
    // The same names in every clinic: only the clinic distinguishes them.
    const patient = aPatient({ firstName: 'Ada0', lastName: 'Kaya' })
    const samples = await createRouteSamples(db.table, { patient })
    const { clinic, webhook, invoice } = samples
    const patients = Array.from({ length: 30 }, (_, at) =>
      aPatient({ firstName: `Ada${at % 5}`, lastName: 'Kaya' }),
    )
    await patientWriter(db).createMany(clinic.id, patients.slice(0, 15))
    await patientWriter(db).createMany(clinic.id, patients.slice(15))
    const deliveries = await createDeliveries(db.table, clinic, webhook)
    const events = deliveries.map(({ eventId }) => eventId.replace('evt_', ''))
    const lists = [patients, invoice.lineItems, deliveries].flat().map(({ id }) => id)
    clinics.push({
      samples,
      ids: new Set([
        clinic.id,
        samples.department.id,
        samples.priceList.id,
        ...Object.values(samples.ids),
        ...lists,
        ...events,
      ]),
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
  for (const prefix of [IMPORT_PARTITION_PREFIX, ERASURE_PARTITION_PREFIX])
    if (item.pk.startsWith(prefix)) return longId(item.pk.slice(prefix.length))
  throw new Error(`the test does not know the owner of ${item.pk}`)
}

let requests = 0

const writesOf: Readonly<Record<string, Readonly<Record<string, string>>>> = grants

/** The due items that a successful request writes for background functions; others take concurrency or a failure. */
const dueItemsOf = ({ id }: Route): string[] =>
  Object.entries(SHARED_PARTITION_PREFIXES)
    .filter(([name]) => writesOf[id]?.PutItem?.split(', ').includes(name))
    .filter(([name]) => name !== 'unresolved-messages')
    .map(([, prefix]) => prefix.replace(/#$/, ''))
    .filter((family) => family.startsWith(DUE_PARTITION_PREFIX))
    .sort()

/** Makes a request, and checks that everything it read, wrote, queued and returned belongs to the caller's clinic. */
async function asked(caller: Known, route: Route, named: SampleIds, filters: Record<string, string> = {}) {
  const send = vi.spyOn(DynamoDBDocumentClient.prototype, 'send')
  const sent = requestOf(route, named, requests++)
  const query = { ...sent.query, ...filters }
  const { status, text } = await request(route.id, {
    ...sent,
    query,
    headers: { ...sent.headers, ...caller.credential.headers },
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
  // No item has the ids of time off and holidays, which follow from a doctor or clinic (version 5).
  const isKnown = (uuid: string) => caller.ids.has(uuid) || uuid[14] === '5'
  expect(shown.filter((uuid) => isTheirs(uuid) || !isKnown(uuid))).toEqual([])
  return { status, families: touched.map(({ pk }) => pk.split('#').slice(0, 2).join('#')) }
}

describe("a request stays within the credential's clinic", () => {
  const anyone = fc.constantFrom(0, 1, 2)
  const anyKind = fc.constantFrom(...RECORD_NOT_FOUND_KEYS)

  it.each(ENDPOINTS.map((route) => [route.id, route] as const))(
    '%s succeeds, and touches no other clinic',
    async (id, route) => {
      const [mine, theirs] = clinics as [Known, Known]
      const named = await mine.samples.idsFor(route)
      for (const uuid of Object.values(named)) mine.ids.add(uuid)
      const answers = [await asked(mine, route, named)]
      // Once for each channel, or for two entities.
      if (id === 'send-message' || id === 'sync-records') answers.push(await asked(mine, route, named))
      for (const { status } of answers) expect(status).toBeLessThan(300)
      // Proves that the checks of due items, which all clinics share, had items to check.
      const families = new Set(answers.flatMap((answer) => answer.families))
      const due = [...families].filter((family) => family.startsWith(DUE_PARTITION_PREFIX)).sort()
      expect(due).toEqual(dueItemsOf(route))
      const foreign = Object.values(theirs.samples.ids)
      const text = JSON.stringify(requestOf(route, theirs.samples.ids))
      if (foreign.some((uuid) => text.includes(uuid)))
        expect((await asked(mine, route, theirs.samples.ids)).status).toBe(404)
    },
  )

  it('random requests with ids of all clinics touch no other clinic', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyone,
        fc.constantFrom(...ENDPOINTS.map(({ id }) => id)),
        fc.array(anyone, {
          minLength: RECORD_NOT_FOUND_KEYS.length,
          maxLength: RECORD_NOT_FOUND_KEYS.length,
        }),
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
          const idIn = (clinic = 0, kind: RecordNotFoundKey) => (clinics[clinic] as Known).samples.ids[kind]
          const chosen = (of: string | [number, RecordNotFoundKey]) =>
            typeof of === 'string' ? of : idIn(...of)
          const entries = Object.entries(filters).map(([name, value]) => [name, chosen(value as string)])
          const query = entries.filter(([name]) => (name as string) in (route.query?.shape ?? {}))
          const named = idsOf((kind) => idIn(owners[RECORD_NOT_FOUND_KEYS.indexOf(kind)], kind))
          await asked(clinics[at] as Known, route, named, Object.fromEntries(query))
        },
      ),
      property(150, 5000),
    )
  })
})
