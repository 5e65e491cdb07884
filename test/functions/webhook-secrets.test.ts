/** The secrets of webhook endpoints: rotation, and what a repeated request shows. */
import { describe, expect, it } from 'vitest'
import { MAX_PREVIOUS_SECRETS, signingSecrets } from '../../shared/domain/webhooks/webhook.ts'
import {
  advanceTime,
  callRoute,
  change,
  error,
  expectUnchanged,
  items,
  postWebhook,
  remove,
  rotate,
  storedWebhook,
  TIME,
  useWebhookEndpoints,
  webhookBody,
  withKey,
} from '../support/webhook-requests.ts'

useWebhookEndpoints()

const HOUR = 60 * 60 * 1000

const signing = async (id: string) => signingSecrets(await storedWebhook(id), Date.now())
const rotated = async (id: string): Promise<string> => (await rotate(id)).body.data.secret

describe('POST /webhooks/{id}/rotate-secret', () => {
  it('returns a new secret, beside which the old one still signs', async () => {
    const { id, secret: old, ...before } = await postWebhook()
    advanceTime(60_000)
    const { status, body } = await rotate(id)
    expect(status).toBe(200)
    expect(body.data).toEqual({
      id,
      ...before,
      secret: expect.stringMatching(/^whsec_/),
      updated_at: expect.stringMatching(TIME),
    })
    const { secret } = body.data
    expect(secret).not.toBe(old)
    expect(await signing(id)).toEqual([secret, old])
  })

  it('returns 409 while three earlier secrets still sign, and rotates after the first has ended', async () => {
    const { id, secret: first } = await postWebhook()
    advanceTime(0)
    const more = []
    for (let n = 0; n < MAX_PREVIOUS_SECRETS; n++) {
      more.unshift(await rotated(id))
      advanceTime(HOUR)
    }
    const rejected = await expectUnchanged(() => rotate(id))
    expect(rejected).toMatchObject(error(409, 'TOO_MANY_ROTATIONS', 'too_many_rotations'))
    const wait = Number(rejected.headers['retry-after'])
    expect(wait).toBeGreaterThan(21 * 3600 - 60)
    expect(wait).toBeLessThanOrEqual(21 * 3600)
    expect(await signing(id)).toEqual([...more, first])
    advanceTime(wait * 1000)
    const next = await rotated(id)
    expect(await signing(id)).toEqual([next, ...more])
    expect(JSON.stringify(await items())).not.toContain(first)
  })

  it('rejects as many racing rotations as the limit requires', async () => {
    const { id, secret: first } = await postWebhook()
    const answers = await Promise.all(Array.from({ length: 6 }, () => rotate(id)))
    const made = answers.flatMap(({ body: { data } }) => (data ? [data.secret] : []))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409, 409, 409])
    expect((await signing(id)).sort()).toEqual([first, ...made].sort())
  })
})

describe('PATCH /webhooks/{id} with a secret', () => {
  const secret = 'my-own-secret-0123456789'

  it('rotates to it beside the other changes, and returns no secret', async () => {
    const { id, secret: old, ...before } = await postWebhook()
    advanceTime(60_000)
    const { status, body } = await change(id, { signing_secret: secret, is_active: false })
    expect(status).toBe(200)
    expect(body.data).toEqual({ id, ...before, is_active: false, updated_at: expect.stringMatching(TIME) })
    expect(body.data.updated_at > before.updated_at).toBe(true)
    expect(await signing(id)).toEqual([secret, old])
  })

  it('changes nothing while three earlier secrets still sign', async () => {
    const { id } = await postWebhook()
    for (let n = 0; n < MAX_PREVIOUS_SECRETS; n++) await rotated(id)
    const rejected = await expectUnchanged(() => change(id, { secret, is_active: false }))
    expect(rejected).toMatchObject(error(409, 'TOO_MANY_ROTATIONS', 'too_many_rotations'))
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(0)
  })
})

describe('a repeated request whose response had a secret', () => {
  const create = () => callRoute('create-webhook', { ...withKey('k'), body: webhookBody() })

  it('finds the secret in the endpoint: no other item has it', async () => {
    const { body } = await create()
    const { secret } = (await rotate(body.data.id, withKey('k'))).body.data
    for (const text of [body.data.secret, secret])
      expect((await items()).filter((item) => item.includes(text)).length).toBe(1)
  })

  it('shows no secret after the endpoint was deleted', async () => {
    const first = await create()
    const { id, secret } = first.body.data
    const turned = await rotate(id, withKey('k'))
    await remove(id)
    for (const [answer, again] of [
      [first, await expectUnchanged(create)],
      [turned, await expectUnchanged(() => rotate(id, withKey('k')))],
    ] as const) {
      expect(again.body).toEqual({ data: { ...answer.body.data, secret: null } })
      expect([again.status, again.headers['idempotent-replayed']]).toEqual([answer.status, 'true'])
    }
    const left = JSON.stringify(await items())
    for (const text of [secret, turned.body.data.secret]) expect(left).not.toContain(text)
  })

  it('shows no secret after it was replaced', async () => {
    const first = await create()
    const { id } = first.body.data
    const second = await rotate(id, withKey('k'))
    expect((await expectUnchanged(create)).body).toEqual({ data: { ...first.body.data, secret: null } })
    expect((await expectUnchanged(() => rotate(id, withKey('k')))).text).toBe(second.text)
    await rotate(id, withKey('l'))
    const again = await expectUnchanged(() => rotate(id, withKey('k')))
    expect(again.body).toEqual({ data: { ...second.body.data, secret: null } })
  })
})
