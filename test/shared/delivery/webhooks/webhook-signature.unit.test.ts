import fc from 'fast-check'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { newWebhookSecret, signatureHeaders } from '../../../../shared/delivery/webhooks/webhook-signature.ts'
import { secretIssue } from '../../../../shared/domain/webhooks/webhook-secret.ts'
import { property, rounds } from '../../../support/scale.ts'

const BODY = JSON.stringify({ id: 'evt_1', event: 'patient.created', data: { sign: 'ü € 💊', n: 1 } })
const ID = 'evt_018f2a7e-8f7d-7c3b-a1d2-0123456789ab'
const nowSeconds = () => Math.floor(Date.now() / 1000)

/** The package of the specification, as an integrator uses it: with the format of the secret. */
const verifier = (secret: string) =>
  secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(secret, { format: 'raw' })

const signed = (...secrets: string[]) =>
  signatureHeaders({ id: ID, timestampSeconds: nowSeconds(), body: BODY, secrets })

const flip = (text: string, position: number, bit: number): string => {
  const bytes = Buffer.from(text)
  bytes.writeUInt8(bytes.readUInt8(position) ^ (1 << bit), position)
  return bytes.toString()
}

describe.each([
  ['a generated secret', newWebhookSecret()],
  ["an integrator's whsec_ secret", `whsec_${Buffer.alloc(24, 7).toString('base64')}`],
  ["an integrator's own text", 'hunter2-hunter2-hunter2!~'],
])('a signature with %s', (_, secret) => {
  it('is accepted by the public verifier', () => {
    expect(verifier(secret).verify(BODY, signed(secret))).toEqual(JSON.parse(BODY))
    expect(verifier(secret).verify(Buffer.from(BODY), signed(secret))).toEqual(JSON.parse(BODY))
  })

  const verifies = (headers: Record<string, string>, body = BODY) => verifier(secret).verify(body, headers)

  it('is rejected after a change of any byte of the body', () => {
    const headers = signed(secret)
    for (let position = 0; position < Buffer.byteLength(BODY); position++)
      for (const bit of sampledBits(position))
        expect(() => verifies(headers, flip(BODY, position, bit))).toThrow(WebhookVerificationError)
  })

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const)(
    'is rejected after a change of any byte of %s',
    (name) => {
      const headers = signed(secret)
      for (let position = 0; position < headers[name].length; position++)
        for (const bit of sampledBits(position))
          expect(() => verifies({ ...headers, [name]: flip(headers[name], position, bit) })).toThrow(
            WebhookVerificationError,
          )
    },
  )

  it('is rejected when it is cut off, too old or has another timestamp', () => {
    const headers = signed(secret)
    expect(() => verifies(headers, BODY.slice(0, -1))).toThrow(WebhookVerificationError)
    expect(() => verifies(headers, `${BODY} `)).toThrow(WebhookVerificationError)
    expect(() => verifies({ ...headers, 'webhook-signature': '' })).toThrow(WebhookVerificationError)
    const old = signatureHeaders({
      id: ID,
      timestampSeconds: nowSeconds() - 301,
      body: BODY,
      secrets: [secret],
    })
    expect(() => verifies(old)).toThrow(WebhookVerificationError)
    expect(() => verifies({ ...old, 'webhook-timestamp': headers['webhook-timestamp'] })).toThrow(
      WebhookVerificationError,
    )
  })

  it('is rejected with another secret', () => {
    expect(() => verifier(newWebhookSecret()).verify(BODY, signed(secret))).toThrow(WebhookVerificationError)
  })
})

/** One bit in `npm test`, another at each position; all in `npm run prove`. */
const sampledBits = (position: number) =>
  Array.from({ length: rounds(2, 8) }, (_, index) => (position * 3 + index) % 8)

it.each([
  [newWebhookSecret(), newWebhookSecret()],
  ['the-old-one-as-text', newWebhookSecret()],
  ['the-old-one-as-text', 'the-new-one-as-text'],
])('during a rotation both secrets verify: %s and %s', (old, current) => {
  const headers = signed(current, old)
  expect(headers['webhook-signature'].split(' ')).toHaveLength(2)
  expect(verifier(old).verify(BODY, headers)).toEqual(JSON.parse(BODY))
  expect(verifier(current).verify(BODY, headers)).toEqual(JSON.parse(BODY))
  expect(() => verifier(newWebhookSecret()).verify(BODY, headers)).toThrow(WebhookVerificationError)
})

it('signs any JSON with any id and secrets', () => {
  const whsec = fc
    .uint8Array({ minLength: 24, maxLength: 64 })
    .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`)
  const text = fc
    .string({ unit: fc.constantFrom(...'!"#%&/()=?{}[]azAZ09~_-+,.;:'), minLength: 16, maxLength: 256 })
    .filter((secret) => !secret.startsWith('whsec_'))
  fc.assert(
    fc.property(
      fc.stringMatching(/^evt_[0-9a-f-]{1,36}$/),
      fc.jsonValue(),
      fc.array(fc.oneof(whsec, text), { minLength: 1, maxLength: 3 }),
      (id, value, secrets) => {
        const body = JSON.stringify({ data: value })
        const headers = signatureHeaders({ id, timestampSeconds: nowSeconds(), body, secrets })
        for (const secret of secrets) {
          expect(secretIssue(secret)).toBeNull()
          expect(verifier(secret).verify(body, headers)).toEqual(JSON.parse(body))
        }
      },
    ),
    property(200, 20_000),
  )
})

it('produces the signature of the example in the specification', () => {
  const headers = signatureHeaders({
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampSeconds: 1_614_265_330,
    body: '{"test": 2432232314}',
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  })
  expect(headers).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

it('generates distinct secrets of 32 random bytes', () => {
  const secrets = Array.from({ length: 100 }, newWebhookSecret)
  expect(new Set(secrets).size).toBe(100)
  for (const secret of secrets) {
    expect(secretIssue(secret)).toBeNull()
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
  }
})
