/** Private fields, changes, deactivation and the filters of patients, through the handlers. */
import { beforeAll, describe, expect, it } from 'vitest'
import { PatientDetails } from '../../shared/api/patients.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { SCOPES, type Scope } from '../../shared/domain/scope.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { verifyClinic } from '../../shared/maintenance/verify/verify-clinic.ts'
import { patientChanges } from '../../shared/store/copies/patient-changes.ts'
import { credentialKey } from '../../shared/store/keys/clinics.ts'
import { allItems, announcedEvents } from '../support/all-items.ts'
import { issueCredential } from '../support/credentials.ts'
import { filledPatient } from '../support/filled-records.ts'
import { request, tableOfFunctions } from '../support/functions.ts'
import { newClinic } from '../support/table.ts'

const NATIONAL_ID = 'QX-4711-CANARY'
const NOTES = 'Canarynote'
const PUBLIC = SCOPES.filter((scope) => scope !== 'patient.read.private')

const db = tableOfFunctions()
let clinic: Clinic
let full: Record<string, string>
let limited: Record<string, string>

beforeAll(async () => {
  clinic = await newClinic(db.table)
  full = (await issueCredential(db.table, clinic)).headers
  limited = (await issueCredential(db.table, clinic, PUBLIC)).headers
})

type Sent = { headers?: Record<string, string>; body?: object; key?: string; query?: Record<string, string> }

async function ask(id: string, patient: string | null, { headers = full, body, key, query }: Sent = {}) {
  return request(id, {
    ...(patient && { path: { id: patient } }),
    ...(query && { query }),
    headers: { ...headers, 'idempotency-key': key },
    body,
  })
}

const create = async (fields: object = {}): Promise<string> => {
  const body = { first_name: 'Ada', last_name: 'Kaya', ...fields }
  return (await ask('create-patient', null, { body })).body.data.id
}
const get = async (id: string, headers = full) => (await ask('get-patient', id, { headers })).body.data
const list = (query: Record<string, string>, headers = full) => ask('list-patients', null, { query, headers })
const idsOf = ({ body }: { body: any }): string[] => body.data.map(({ id }: { id: string }) => id)
const eventsOf = async (id: string): Promise<number> => (await announcedEvents(db, id)).length
const update = (id: string, body: object, more: Sent = {}) => ask('update-patient', id, { body, ...more })

describe('national_id and notes', () => {
  it('are shown where one patient is the response, and only to a credential with patient.read.private', async () => {
    const body = { first_name: 'Ada', last_name: 'Kaya', national_id: NATIONAL_ID, notes: NOTES }
    const made = await ask('create-patient', null, { body })
    expect([made.status, made.body.data]).toMatchObject([
      201,
      { national_id: NATIONAL_ID, notes: NOTES, is_active: true },
    ])
    const { id } = made.body.data
    for (const [route, sent] of [
      ['get-patient', {}],
      ['update-patient', { body: { gender: 'female' } }],
      ['deactivate-patient', {}],
      ['activate-patient', {}],
    ] as const) {
      const { status, body } = await ask(route, id, sent)
      expect([route, status, body.data]).toMatchObject([
        route,
        200,
        { national_id: NATIONAL_ID, notes: NOTES },
      ])
      const { text } = await ask(route, id, { ...sent, headers: limited })
      expect([route, text.includes('national_id') || text.includes('notes')]).toEqual([route, false])
    }
    const unseen = await ask('create-patient', null, { body, headers: limited })
    expect([unseen.status, Object.keys(unseen.body.data)]).toEqual([
      201,
      Object.keys((await list({})).body.data[0]),
    ])
    expect(await get(unseen.body.data.id)).toMatchObject({ national_id: NATIONAL_ID, notes: NOTES })
  })

  it('occur in no list, search, index or log', async () => {
    const id = await create({ national_id: NATIONAL_ID, notes: NOTES })
    const found = await list({ national_id: NATIONAL_ID })
    expect(idsOf(found)).toContain(id)
    for (const response of [found, await list({}), await list({ is_active: 'true' })]) {
      expect(response.text).not.toMatch(/national_id|notes|canary/i)
      expect(response.logged).not.toMatch(/canary/i)
    }
    expect((await list({ search: NATIONAL_ID })).body.meta.total).toBe(0)
    expect((await list({ search: NOTES })).body.meta.total).toBe(0)
    const holders = (await allItems(db)).filter((item) => /canary/i.test(JSON.stringify(item)))
    expect(new Set(holders.map(({ pk }) => pk.split('#')[1]))).toEqual(new Set(['P']))
  })

  it.each([
    ['national_id', ''],
    ['national_id', 'ab 1'],
    ['national_id', 'ΑΒ1'],
    ['notes', 'a\u0000'],
  ])('%s %j returns 422', async (field, value) => {
    const id = await create()
    for (const response of [
      await update(id, { [field]: value }),
      await ask('create-patient', null, { body: { first_name: 'A', last_name: 'B', [field]: value } }),
    ])
      expect([response.status, response.body.details]).toMatchObject([422, [{ field }]])
  })

  it('are gone after an erasure, in stored responses and the index too', async () => {
    const id = await create({ national_id: 'GONE-1', notes: 'Goneforever' })
    const key = newUuid()
    const first = await update(id, { gender: 'other' }, { key })
    expect(first.text).toContain('Goneforever')
    await patientChanges(db.table).erase(clinic.id, id)
    expect(JSON.stringify(await allItems(db))).not.toMatch(/GONE-1|Goneforever/)
    expect(await update(id, { gender: 'other' }, { key })).toMatchObject({
      status: 422,
      body: { message: 'errors.developer_api.idempotency_key_reused' },
    })
    expect((await list({ national_id: 'GONE-1' })).body.meta.total).toBe(0)
    expect(await get(id)).toMatchObject({ national_id: null, notes: null, first_name: 'Erased' })
  })

  it('are left out of a stored response if the credential has lost the scope since', async () => {
    const { headers, key: credential } = await issueCredential(db.table, clinic)
    const id = await create({ national_id: NATIONAL_ID, notes: NOTES })
    const sent = { headers, key: newUuid() }
    const first = await update(id, { gender: 'male' }, sent)
    expect((await update(id, { gender: 'male' }, sent)).text).toBe(first.text)
    await db.table.update(credentialKey(credential), {
      UpdateExpression: 'SET scopes = :scopes',
      ExpressionAttributeValues: { ':scopes': PUBLIC },
    })
    const { national_id: _, notes: __, ...data } = first.body.data
    expect((await update(id, { gender: 'male' }, sent)).body).toEqual({ data })
  })

  it('are left out of a stored response to a credential that has kept only patient.write since', async () => {
    const { headers, key: credential } = await issueCredential(db.table, clinic)
    const id = await create()
    const sent = { headers, key: newUuid() }
    const body = { gender: 'male', national_id: NATIONAL_ID, notes: NOTES }
    const first = await update(id, body, sent)
    await db.table.update(credentialKey(credential), {
      UpdateExpression: 'SET scopes = :scopes',
      ExpressionAttributeValues: { ':scopes': ['patient.write'] },
    })
    const { is_active, created_at, updated_at, erased_at, gender } = first.body.data
    const data = { id, is_active, created_at, updated_at, erased_at, gender }
    expect((await update(id, body, sent)).body).toEqual({ data })
  })
})

describe('POST /patients', () => {
  const make = (fields: object) => ask('create-patient', null, { body: { last_name: 'Kaya', ...fields } })

  it.each([undefined, null, '', '  '])(
    'creates a patient with one name when last_name is %j',
    async (last_name) => {
      const { status, body } = await make({ first_name: ' Suharto ', last_name })
      expect([status, body.data]).toMatchObject([
        201,
        { first_name: 'Suharto', last_name: '', full_name: 'Suharto' },
      ])
      expect(idsOf(await list({ search: 'suharto' }))[0]).toBe(body.data.id)
    },
  )

  it('creates a patient who accepts messages, unless the request says otherwise', async () => {
    const { body } = await make({ first_name: 'Ada', accepts_email: false, language: 'zh-hant' })
    const sent = { accepts_sms: true, accepts_email: false, language: 'zh-Hant' }
    expect(body.data).toMatchObject(sent)
    expect((await list({ limit: '1' })).body.data).toMatchObject([sent])
    expect((await update(body.data.id, { accepts_email: true, language: null })).body.data).toMatchObject({
      accepts_email: true,
      language: null,
    })
  })

  it.each([undefined, null, ''])('returns 422 when first_name is %j', async (first_name) => {
    expect(await make({ first_name })).toMatchObject({
      status: 422,
      body: { details: [{ field: 'first_name' }] },
    })
  })
})

describe('PATCH /patients/{id}', () => {
  it('changes the fields that are sent, clears those that are null, and makes one event', async () => {
    const id = await create({ gender: 'female', phone_number: '+905321234567', notes: 'old' })
    const before = await get(id)
    const sent = {
      last_name: 'Öztürk',
      date_of_birth: '1990-02-03',
      phone_number: null,
      email_address: 'ada@example.com',
      accepts_sms: false,
      language: 'pt-BR',
      national_id: 'N-1',
    }
    const { status, body } = await update(id, sent)
    const changed = { ...sent, full_name: 'Ada Öztürk', updated_at: expect.any(String) }
    expect([status, body.data]).toEqual([200, { ...before, ...changed }])
    expect(await get(id)).toEqual(body.data)
    expect(idsOf(await list({ search: 'ozturk' }))).toEqual([id])
    expect(await eventsOf(id)).toBe(2)
  })

  it.each([null, '', ' '])('removes the last name when it is %j', async (last_name) => {
    const id = await create({ last_name: 'Removed' })
    const { body } = await update(id, { last_name })
    expect(body.data).toMatchObject({ first_name: 'Ada', last_name: '', full_name: 'Ada' })
    expect(idsOf(await list({ search: 'removed' }))).toEqual([])
    expect((await update(id, { last_name })).body).toEqual(body)
    expect((await update(id, { last_name: 'Kaya' })).body.data.full_name).toBe('Ada Kaya')
  })

  it('changes nothing, and makes no event, without fields or with the present values', async () => {
    const id = await create({ notes: 'same' })
    const before = await get(id)
    for (const body of [{}, { notes: 'same', first_name: 'Ada' }]) {
      expect(await update(id, body)).toMatchObject({ status: 200, body: { data: before } })
    }
    expect(await eventsOf(id)).toBe(1)
  })

  it.each([
    ['null for a required field', { first_name: null }, 'first_name'],
    ['an unknown field', { colour: 'blue' }, 'colour'],
    ['a date of birth in the future', { date_of_birth: '2999-01-01' }, 'date_of_birth'],
  ])('returns 422 for %s', async (_, body, field) => {
    const id = await create()
    expect(await update(id, body)).toMatchObject({ status: 422, body: { details: [{ field }] } })
  })

  it('returns 404 for an erased patient, as the actions do', async () => {
    const id = await create()
    await patientChanges(db.table).erase(clinic.id, id)
    const routes = ['update-patient', 'deactivate-patient', 'activate-patient']
    for (const route of routes) expect((await ask(route, id, { body: {} })).status).toBe(404)
  })

  it('stores no response of a patient who is erased while nothing is changed', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await create({ notes: `Racenote${round}` })
      const erasing = patientChanges(db.table).erase(clinic.id, id)
      await Promise.all([erasing, update(id, {}, { key: newUuid() })])
      expect(JSON.stringify(await allItems(db))).not.toContain(`Racenote${round}`)
    }
  })
})

describe('POST /patients/{id}/deactivate and /activate', () => {
  it('change the state once, with one event each, and repeat without an effect', async () => {
    const id = await create()
    for (const [route, state] of [
      ['deactivate-patient', false],
      ['activate-patient', true],
    ] as const)
      for (const body of [undefined, {}])
        expect(await ask(route, id, { ...(body && { body }) })).toMatchObject({
          status: 200,
          body: { data: { id, is_active: state } },
        })
    expect(await eventsOf(id)).toBe(3)
  })

  it('sending a message to an inactive patient is a 422; the patient stays readable and found', async () => {
    const id = await create({ phone_number: '+905321234567', email_address: 'ada@example.com' })
    await ask('deactivate-patient', id)
    const inactive = { error: 'PATIENT_INACTIVE', message: 'errors.developer_api.patient_inactive' }
    for (const channel of ['sms', 'email'])
      expect(
        await ask('send-message', null, { body: { channel, patient_id: id, message: 'Hello' } }),
      ).toMatchObject({ status: 422, body: inactive })
    expect(idsOf(await list({ search: 'ada' }))).toContain(id)
    expect(await get(id)).toMatchObject({ is_active: false })
  })
})

describe('GET /patients', () => {
  it('filters by is_active, with a search too, with exact totals on every page', async () => {
    const other = await newClinic(db.table)
    const { headers } = await issueCredential(db.table, other)
    const made: { id: string; active: boolean; name: string }[] = []
    for (let n = 0; n < 23; n++) {
      const name = n % 3 === 0 ? 'Berk' : 'Cem'
      const body = { first_name: name, last_name: 'Kaya' }
      const { id } = (await ask('create-patient', null, { headers, body })).body.data
      const active = n % 4 !== 1
      if (!active) await ask('deactivate-patient', id, { headers })
      made.unshift({ id, active, name })
    }
    for (const is_active of ['true', 'false'])
      for (const search of ['', 'berk', 'kaya'])
        for (const limit of [4, 100]) {
          const wanted = made
            .filter(
              ({ active, name }) =>
                String(active) === is_active && `${name} kaya`.toLowerCase().includes(search),
            )
            .map(({ id }) => id)
          const seen: string[] = []
          for (let page = 1; page <= Math.ceil(wanted.length / limit) + 1; page++) {
            const query = { is_active, limit: String(limit), page: String(page), ...(search && { search }) }
            const response = await list(query, headers)
            expect(response.body.meta.total).toBe(wanted.length)
            seen.push(...idsOf(response))
          }
          expect(seen).toEqual(wanted)
        }
    const { differences } = await verifyClinic(db.table, other.id, { repair: false, onDifference: () => {} })
    expect(differences).toBe(0)
  })

  it('continues by cursor with every filter', async () => {
    const ids: string[] = []
    for (let n = 0; n < 6; n++) ids.unshift(await create({ last_name: 'Walker', national_id: 'WALK-1' }))
    for (const id of ids.filter((_, at) => at % 2 === 0)) await ask('deactivate-patient', id)
    for (const filter of [
      { is_active: 'true' },
      { is_active: 'false' },
      { search: 'walker' },
      { search: 'walker', is_active: 'false' },
      { national_id: 'WALK-1' },
    ] as Record<string, string>[]) {
      const all = idsOf(await list({ ...filter, limit: '100' }))
      const listed: string[] = []
      let answer = await list({ ...filter, limit: '2' })
      for (;;) {
        listed.push(...idsOf(answer))
        const { next_after } = answer.body.meta
        if (next_after === null) break
        answer = await list({ ...filter, limit: '2', after: next_after })
      }
      expect([filter, listed]).toEqual([filter, all])
      expect(listed.length).toBeGreaterThanOrEqual(3)
    }
  })

  it('finds exactly the patients with a national id, who may share it', async () => {
    const first = await create({ national_id: 'SH-1' })
    const second = await create({ national_id: 'SH-1' })
    await create({ national_id: 'SH-11' })
    expect(idsOf(await list({ national_id: 'SH-1' }))).toEqual([second, first])
    const page = await list({ national_id: 'SH-1', page: '2', limit: '1' })
    expect([idsOf(page), page.body.meta]).toEqual([
      [first],
      { page: 2, limit: 1, total: 2, total_pages: 2, next_after: null },
    ])
    expect(idsOf(await list({ national_id: 'sh-1' }))).toEqual([second, first])
    await update(first, { national_id: 'sh-2' })
    expect((await get(first)).national_id).toBe('SH-2')
    await update(second, { national_id: null })
    expect((await list({ national_id: 'SH-1' })).body.meta.total).toBe(0)
    expect(idsOf(await list({ national_id: 'SH-2' }))).toEqual([first])
  })

  it('returns 403 naming the scope for a national id, before it is validated', async () => {
    for (const national_id of ['SH-1', '???'])
      expect(await list({ national_id }, limited)).toMatchObject({
        status: 403,
        body: { details: [{ scope: 'patient.read.private' satisfies Scope }] },
      })
  })

  it.each([
    [{ national_id: 'A', search: 'a' }, 'national_id'],
    [{ national_id: 'A', is_active: 'true' }, 'national_id'],
    [{ national_id: 'a b' }, 'national_id'],
    [{ is_active: 'yes' }, 'is_active'],
  ])('returns 400 for %j', async (query, field) => {
    expect(await list(query as Record<string, string>)).toMatchObject({
      status: 400,
      body: { details: [{ field }] },
    })
  })
})

/** Fields of a patient that no request sets, or only an action. */
const NOT_SENT = ['id', 'full_name', 'is_active', 'created_at', 'updated_at', 'erased_at']

it('returns every field as it was sent by POST and by PATCH', async () => {
  const record = filledPatient() as Record<string, unknown>
  const nameOf = (field: string) => field.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())
  const fields = Object.keys(PatientDetails.unwrap().shape).filter((field) => !NOT_SENT.includes(field))
  const sent = Object.fromEntries(fields.map((field) => [field, record[nameOf(field)]]))
  const { headers } = await issueCredential(db.table, await newClinic(db.table))
  const post = async (body: object) => {
    const response = await ask('create-patient', null, { headers, body })
    expect(response.body.details).toBeUndefined()
    return response.body.data
  }
  const made = await post(sent)
  const other = await post({ first_name: 'Ada' })
  const { external_id: _, ...changes } = sent
  const changed = (await update(other.id, changes, { headers })).body.data
  const read = [await get(made.id, headers), await get(other.id, headers)]
  expect([made, changed, ...read]).toMatchObject([sent, changes, sent, changes])
})

it('logs nothing of a search that is rejected', async () => {
  const { status, logged } = await list({ search: 'CANARY-7351', after: 'bad' })
  expect(status).toBe(400)
  expect(logged).toContain('"status":400')
  expect(logged).not.toContain('CANARY-7351')
})
