/** Every endpoint writes one line of the access trail, with the ids of the records in its response, and ids nowhere else. */
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { beforeAll, describe, expect, it } from 'vitest'
import { ENDPOINTS } from '../../../shared/api/routes.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { patientChanges } from '../../../shared/store/copies/patient-changes.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import { issueCredential } from '../../support/credentials.ts'
import { request, tableOfFunctions } from '../../support/functions.ts'
import { mockClient } from '../../support/mock-client.ts'
import { bodyOf, createRouteSamples, type RouteSamples, requestOf } from '../../support/route-samples.ts'

const db = tableOfFunctions()
let records: RouteSamples
let credential: Awaited<ReturnType<typeof issueCredential>>
const sqs = mockClient(SQSClient)

beforeAll(async () => {
  records = await createRouteSamples(db.table)
  credential = await issueCredential(db.table, records.clinic)
  sqs.on(SendMessageCommand).resolves({})
  sqs.on(SendMessageBatchCommand).resolves({})
})

/** The ids that a response shows, found in its text. Those of line items are not of records. */
const shownIds = (text: string): string[] =>
  [...text.replace(/"line_items":\[.*?\]/g, '').matchAll(/"(?:id|patient_id|key)":"([^"]+)"/g)].map(
    ([, id = '']) => id,
  )

async function newestMessage(): Promise<string> {
  const { items } = await messageStore(db).page(records.clinic.id, {}, { page: 1, limit: 1 })
  return items[0]?.id ?? ''
}

const LINE = [
  'access',
  'clinic_id',
  'credential',
  'level',
  'outcome',
  'records',
  'request_id',
  'route',
  'source_ip',
]

describe.each(ENDPOINTS.map((route) => [route.id, route] as const))('%s', (id, route) => {
  it('writes one access line with the ids that it was asked for and that it returned', async () => {
    const sent = requestOf(route, await records.idsFor(route))
    const { status, text, accesses, logged } = await request(route.id, {
      ...sent,
      headers: { ...sent.headers, ...credential.headers },
    })
    expect(status).toBe(route.response.status)
    expect(accesses.length).toBe(1)
    const [line] = accesses
    expect(Object.keys(line).sort()).toEqual([...LINE, 'timestamp', 'type'])
    expect(line).toMatchObject({
      type: 'access',
      credential: credential.key,
      clinic_id: records.clinic.id,
      route: id,
      outcome: status,
      source_ip: '192.0.2.1',
      request_id: 'request-1',
    })
    // The response to an email does not show its id.
    const hidden = id === 'send-message' ? [await newestMessage()] : []
    const ids = [...Object.values(sent.path), ...shownIds(text), ...hidden]
    expect(new Set(line.records)).toEqual(new Set(ids))
    for (const { id: recordId } of [records.patient, records.invoice, records.appointment])
      expect(logged).not.toContain(recordId)
  })

  it('writes an access line without records for a request without a credential', async () => {
    const { accesses } = await request(route.id, requestOf(route, records.ids))
    expect(accesses).toMatchObject([{ credential: null, clinic_id: null, outcome: 401, records: [] }])
  })
})

it.each(ENDPOINTS.filter(({ method }) => method === 'PATCH').map((route) => [route.id, route] as const))(
  '%s is a write in the access line, and a read when it changes nothing',
  async (_id, route) => {
    const once = { ...credential.headers, 'idempotency-key': newUuid() }
    const accessOf = async (body: object, headers = credential.headers) => {
      const sent = { ...requestOf(route, records.ids), body: JSON.stringify(body) }
      const { accesses } = await request(route.id, { ...sent, headers: { ...sent.headers, ...headers } })
      return accesses.map(({ access }) => access)
    }
    const [one, other] = [0, 1].map((version) => bodyOf(route, records.ids, version)) as [object, object]
    await accessOf(one)
    expect(await accessOf(other, once)).toEqual(['write'])
    expect(await accessOf(other, once)).toEqual(['read'])
    expect(await accessOf({})).toEqual(['read'])
  },
)

describe('a request that is denied for its scope', () => {
  it.each(ENDPOINTS.filter(({ params }) => params).map((route) => [route.id, route] as const))(
    'has the ids in its path in the access line of %s',
    async (_id, route) => {
      const { headers } = await issueCredential(db.table, records.clinic, [])
      const sent = requestOf(route, records.ids)
      const { accesses } = await request(route.id, { ...sent, headers })
      const ids = Object.values(sent.path)
      expect(accesses).toMatchObject([{ clinic_id: records.clinic.id, outcome: 403, records: ids }])
    },
  )
})

describe('the patient of a request', () => {
  it.each(['list-appointments', 'list-invoices', 'list-payments', 'list-messages'])(
    'is in the access line of %s',
    async (id) => {
      const { patient } = records
      const all = { headers: credential.headers }
      const ofPatient = { ...all, query: { patient_id: patient.id } }
      for (const sent of [all, ofPatient]) {
        const { body, accesses } = await request(id, sent)
        expect(accesses).toMatchObject([{ records: expect.arrayContaining([patient.id, body.data[0].id]) }])
      }
    },
  )

  it('is in the access line of a search, whose words are not', async () => {
    const { patient } = records
    const query = { search: patient.firstName }
    const { accesses } = await request('list-patients', { query, headers: credential.headers })
    expect(accesses).toMatchObject([{ records: [patient.id] }])
    expect(JSON.stringify(accesses)).not.toContain(patient.firstName)
  })

  it('is in the access line of a search by national id, which is not', async () => {
    const national_id = 'ACCESS-4711'
    await patientChanges(db.table).update(records.clinic.id, records.patient.id, { nationalId: national_id })
    const { accesses, logged } = await request('list-patients', {
      query: { national_id },
      headers: credential.headers,
    })
    expect(accesses).toMatchObject([{ records: [records.patient.id] }])
    expect(JSON.stringify(accesses) + logged).not.toContain(national_id)
  })

  it('is in the access line of a creation, and of its repetition with the same Idempotency-Key', async () => {
    const headers = { ...credential.headers, 'idempotency-key': 'once' }
    const sent = { headers, body: { first_name: 'Ada', last_name: 'Kaya' } }
    const first = await request('create-patient', sent)
    const again = await request('create-patient', sent)
    expect([first.status, again.headers['idempotent-replayed']]).toEqual([201, 'true'])
    for (const { accesses } of [first, again]) {
      expect(accesses).toMatchObject([{ outcome: 201, records: [first.body.data.id] }])
      expect(JSON.stringify(accesses)).not.toMatch(/Ada|Kaya/)
    }
  })

  it("is in the access line when it is another clinic's, with the 404", async () => {
    const foreign = newUuid()
    const { accesses } = await request('get-patient', { path: { id: foreign }, headers: credential.headers })
    expect(accesses).toMatchObject([{ outcome: 404, records: [foreign] }])
  })
})
