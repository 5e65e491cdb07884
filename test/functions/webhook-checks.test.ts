/** The checks of the webhook endpoints, and their errors. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { Scope } from '../../shared/domain/scope.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { issueCredential } from '../support/credentials.ts'
import { newClinic } from '../support/table.ts'
import {
  ask,
  attempted,
  change,
  clinic,
  created,
  db,
  deliveries,
  list,
  NO_WEBHOOK,
  ping,
  pushed,
  redeliver,
  remove,
  rotate,
  sendWith,
  unchanged,
  useWebhookEndpoints,
  type WebhookRequest,
  wanted,
  withKey,
} from '../support/webhook-requests.ts'

useWebhookEndpoints()

describe('an idempotency key that was used for one endpoint', () => {
  // The second request is processed, or rejected since the key was used. It never gets the first response.
  it.each(['ping', 'rotate', 'redeliver'] as const)(
    'does not return its response for another: %s',
    async (what) => {
      const [one, other] = [await created(), await created()]
      const [first, second] = [(await ping(one.id)).body.data.id, (await ping(one.id)).body.data.id]
      const [before, after] = {
        ping: [() => ping(one.id, withKey('k')), () => ping(other.id, withKey('k'))],
        rotate: [() => rotate(one.id, withKey('k')), () => rotate(other.id, withKey('k'))],
        redeliver: [
          () => redeliver(one.id, first, withKey('k')),
          () => redeliver(one.id, second, withKey('k')),
        ],
      }[what] as [() => ReturnType<typeof ask>, () => ReturnType<typeof ask>]
      const answer = await before()
      expect(answer.status).toBeLessThan(300)
      expect((await after()).text).not.toBe(answer.text)
    },
  )
})

describe('a request with only optional fields', () => {
  let id: string
  let delivery: string
  beforeEach(async () => {
    id = (await created()).id
    delivery = (await ping(id)).body.data.id
  })

  const routes: [string, (more: WebhookRequest) => ReturnType<typeof ask>, number][] = [
    ['ping', (more) => ping(id, more), 202],
    ['redeliver', (more) => redeliver(id, delivery, more), 202],
    ['rotate', (more) => rotate(id, more), 200],
  ]

  it.each(routes)('is accepted without a body or with an empty object: %s', async (_, act, status) => {
    expect((await act({})).status).toBe(status)
    expect((await act({ body: {} })).status).toBe(status)
    expect(
      (await act({ body: ' {}\n', headers: { 'content-type': 'application/json; charset=utf-8' } })).status,
    ).toBe(status)
  })

  it.each(routes)('is rejected with any other body: %s', async (_, act) => {
    const text = { 'content-type': 'text/plain' }
    const rejected: [WebhookRequest, number, string][] = [
      [{ headers: text }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
      [{ body: {}, headers: text }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
      [{ body: {}, headers: { 'content-type': undefined } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
      [{ body: { url: 'https://example.com/' } }, 422, 'VALIDATION'],
      [{ body: { secrets: 1 } }, 422, 'VALIDATION'],
      [{ body: '[]' }, 422, 'VALIDATION'],
      [{ body: 'null' }, 422, 'VALIDATION'],
      [{ body: '{' }, 400, 'INVALID_PARAMS'],
      [{ headers: { 'idempotency-key': 'with space' } }, 422, 'VALIDATION'],
    ]
    await unchanged(async () => {
      for (const [request, status, code] of rejected)
        expect(await act(request)).toMatchObject({ status, body: { error: code } })
    })
  })
})

const HOSTILE = [
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://0xa9fea9fe/',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://0177.0.0.1/',
  'https://[::1]/',
  'https://[::ffff:169.254.169.254]/',
  'https://[fd00:ec2::254]/',
  'https://10.0.0.1/',
  'https://8.8.8.8/',
  'https://localhost/',
  'https://localhost.localdomain/',
  'https://foo.localhost./',
  'https://metadata.google.internal/',
  'https://printer.local/',
  'https://kubernetes.default.svc.cluster.local/',
  'https://receiver/',
  'https://１２７.0.0.1/',
  'https://local\u00adhost/',
  'https://example.com./',
  'https://exa_mple.com/',
  'https://xn--a.com/',
  'https://user:secret@example.com/',
  'https://example.com@127.0.0.1/',
  'https://example.com\\@127.0.0.1/',
  'https://example.com/#top',
  'https://example.com:22/',
  'https://example.com:80/',
  'http://example.com/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https:example.com',
  '//example.com/',
  ' https://example.com/',
  'https://example.com/\r\nHost: 127.0.0.1',
  'https://example.com/ü',
  `https://example.com/${'a'.repeat(2029)}`,
  '',
]

describe('the checks of a webhook request', () => {
  const rejected = (answer: Awaited<ReturnType<typeof ask>>, ...fields: string[]) => {
    expect(answer).toMatchObject({
      status: 422,
      body: { error: 'VALIDATION', message: 'errors.developer_api.validation' },
    })
    const named = answer.body.details.map(({ field }: { field: string }) => field.replace(/\..*/, ''))
    expect([...new Set(named)].sort()).toEqual(fields.sort())
    for (const { issue } of answer.body.details) expect(issue).toMatch(/^[a-z][^\p{Cc}]{5,}$/u)
  }

  let id: string
  beforeEach(async () => {
    id = (await created({ description: 'Ours' })).id
  })

  it.each(HOSTILE.map((url) => [url]))('returns 422 for the URL %j', async (url) => {
    await unchanged(async () => {
      rejected(await ask('create-webhook', { body: wanted({ url }) }), 'url')
      rejected(await change(id, { url, description: 'Changed' }), 'url')
    })
  })

  /** Invalid for the creation and for the change of an endpoint alike. */
  const both: [string, object, string][] = [
    ['an address of null', { url: null }, 'url'],
    ['an address that is a number', { url: 1 }, 'url'],
    ['addresses', { url: ['https://example.com/'] }, 'url'],
    ['an unknown event', { events: ['patient.deleted'] }, 'events'],
    ['an unknown event beside a known one', { events: ['patient.created', 'x'] }, 'events'],
    ['an event in capitals', { events: ['Patient.Created'] }, 'events'],
    ['an event with a space', { events: ['patient.created '] }, 'events'],
    ['all events', { events: ['*'] }, 'events'],
    ['a family of events', { events: ['patient.*'] }, 'events'],
    ['the ping, which needs no subscription', { events: ['webhook.ping'] }, 'events'],
    ['no events', { events: [] }, 'events'],
    ['events of null', { events: null }, 'events'],
    ['an event that is not in a list', { events: 'patient.created' }, 'events'],
    ['events by number', { events: [0] }, 'events'],
    ['an event of every object', { events: ['constructor'] }, 'events'],
    ['events as an object', { events: { 0: 'patient.created' } }, 'events'],
    ['an event in a list in a list', { events: [['patient.created']] }, 'events'],
    ['an event twice', { events: ['patient.created', 'invoice.paid', 'patient.created'] }, 'events'],
    ['a description of 501 characters', { description: 'x'.repeat(501) }, 'description'],
    ['an empty description', { description: '' }, 'description'],
    ['a blank description', { description: ' \n ' }, 'description'],
    ['a description of two lines', { description: 'one\ntwo' }, 'description'],
    ['half a character', { description: 'x\ud800' }, 'description'],
    ['a description that is a number', { description: 1 }, 'description'],
    ['an unknown field', { name: 'x' }, 'name'],
    ['a field in another spelling', { Url: 'https://example.com/' }, 'Url'],
    ['an id', { id: newUuid() }, 'id'],
    ['a time', { created_at: '2026-05-01T10:00:00+03:00' }, 'created_at'],
  ]
  it.each(both)('returns 422 for %s', async (_, facts, field) => {
    await unchanged(async () => {
      rejected(await ask('create-webhook', { body: wanted(facts) }), field)
      rejected(await change(id, { is_active: false, ...facts }), field)
    })
  })

  it.each<[string, unknown]>([
    ['is_active of text', 'yes'],
    ['is_active of "true"', 'true'],
    ['is_active of 1', 1],
    ['is_active of null', null],
  ])('returns 422 for %s', async (_, is_active) => {
    rejected(await unchanged(() => change(id, { is_active, description: 'Changed' })), 'is_active')
  })

  it.each<[string, unknown]>([
    ['too short', 'fifteen-letters'],
    ['too long', 'x'.repeat(257)],
    ['with a space', 'sixteen letters!'],
    ['beyond ASCII', 'sixteen-letters-ü'],
    ['with a line feed', 'sixteen-letters!\n'],
    ['empty', ''],
    ['of bad base64', 'whsec_not*base64*at*all*not*base64*at*all'],
    ['of base64 without its padding', `whsec_${Buffer.alloc(32).toString('base64').replace('=', '')}`],
    ['of 23 bytes', `whsec_${Buffer.alloc(23).toString('base64')}`],
    ['of 65 bytes', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['that is a number', 1_234_567_890_123_456],
    ['of null', null],
  ])('returns 422 for a secret %s, and does not repeat it in the response or the log', async (_, secret) => {
    await unchanged(async () => {
      for (const answer of [
        await ask('create-webhook', { body: wanted({ secret }) }),
        await rotate(id, { body: { secret } }),
      ]) {
        rejected(answer, 'secret')
        if (typeof secret === 'string' && secret !== '') {
          const told = JSON.stringify([answer.text, answer.logged])
          expect(told).not.toContain(JSON.stringify(secret).slice(1, -1))
        }
      }
    })
  })

  it('names every invalid field at once', async () => {
    const body = { events: [], description: '', secret: 'x', colour: 'red' }
    const fields = ['url', 'events', 'description', 'secret', 'colour']
    rejected(await unchanged(() => ask('create-webhook', { body })), ...fields)
    const nothing = await unchanged(() => ask('create-webhook', { body: {} }))
    rejected(nothing, 'url', 'events')
    expect(nothing.body.details).toEqual([
      { field: 'url', issue: 'is required' },
      { field: 'events', issue: 'is required' },
    ])
  })

  it('returns the same 404 for another clinic’s endpoint, an unknown id and a malformed id', async () => {
    const delivery = (await ping(id)).body.data.id
    sendWith((await issueCredential(db.table, await newClinic(db.table))).headers)
    await unchanged(async () => {
      for (const act of [
        (one: string) => change(one, { is_active: false }),
        (one: string) => remove(one),
        (one: string) => rotate(one),
        (one: string) => ping(one),
        (one: string) => deliveries(one),
        (one: string) => redeliver(one, delivery),
      ]) {
        const answers = []
        for (const one of [id, id.toUpperCase(), newUuid(), 'none', '']) answers.push(await act(one))
        const texts = answers.map(({ status, text }) => `${status} ${text}`)
        expect([...new Set(texts)]).toEqual([`404 ${JSON.stringify(NO_WEBHOOK.body)}`])
      }
    })
    expect((await list()).body.data).toEqual([])
  })

  it('returns 422 for an invalid URL before 404 for an unknown endpoint', async () => {
    rejected(await change(newUuid(), { url: 'http://localhost/' }), 'url')
  })
})

it('accepts ids in capitals', async () => {
  const { id } = await created()
  const delivery = (await ping(id.toUpperCase())).body.data.id
  expect((await redeliver(id.toUpperCase(), delivery.toUpperCase())).status).toBe(202)
  expect((await change(id.toUpperCase(), { is_active: false })).status).toBe(200)
  expect((await remove(id.toUpperCase())).status).toBe(204)
})

it('returns a secret only when it is created or rotated', async () => {
  const secrets = ['the-first-secret-0123456789', 'the-second-secret-0123456789']
  const { id } = await created({ secret: secrets[0] })
  const rotated = await rotate(id, { body: { secret: secrets[1] } })
  const delivery = (await ping(id)).body.data.id
  const [received] = await attempted(500)
  const answers = [
    await list(),
    await change(id, { description: 'x' }),
    await change(id, { url: 'http://localhost/' }),
    await deliveries(id),
    await redeliver(id, delivery),
    await ask('list-events'),
    await remove(id),
  ]
  const told = JSON.stringify([
    received,
    rotated.logged,
    ...answers.flatMap(({ text, logged, headers: sent }) => [text, logged, sent]),
  ])
  for (const secret of secrets) expect(told).not.toContain(secret)
  expect(JSON.stringify(pushed())).not.toMatch(/secret/)
})

describe('the scope of a webhook endpoint', () => {
  const ROUTES: [string, Scope][] = [
    ['list-webhooks', 'webhook.read'],
    ['list-deliveries', 'webhook.read'],
    ['list-events', 'webhook.read'],
    ['create-webhook', 'webhook.write'],
    ['update-webhook', 'webhook.write'],
    ['rotate-webhook-secret', 'webhook.write'],
    ['ping-webhook', 'webhook.write'],
    ['redeliver', 'webhook.write'],
    ['delete-webhook', 'webhook.write'],
  ]

  it.each(['webhook.read', 'webhook.write'] as const)('%s allows only its own endpoints', async (scope) => {
    const { id } = await created()
    const delivery_id = (await ping(id)).body.data.id
    sendWith((await issueCredential(db.table, clinic, [scope])).headers)
    for (const [route, needed] of ROUTES) {
      const { status, body } = await ask(route, {
        path: { id, delivery_id },
        ...(route === 'create-webhook' && { body: wanted() }),
      })
      if (needed === scope) expect([route, status < 300]).toEqual([route, true])
      else expect([route, status, body.details]).toEqual([route, 403, [{ scope: needed }]])
    }
  })
})
