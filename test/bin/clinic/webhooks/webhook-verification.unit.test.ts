import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { verifyWebhook } from '../../../../bin/clinic/webhooks/webhook-verification.ts'
import { signatureHeaders } from '../../../../shared/delivery/webhooks/webhook-signature.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const OTHER = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const BODY = JSON.stringify({ id: 'evt_1', event: 'patient.created', data: { text: 'ü € 💊' } })
const NOW = Date.parse('2026-05-01T10:00:00Z')

/** A request as the package of the specification signs it. */
function signed(secret: string, { at = NOW, body = BODY, id = 'evt_1' } = {}) {
  const signer = secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(secret, { format: 'raw' })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at / 1000)),
    'webhook-signature': signer.sign(id, new Date(at), body),
  }
}

describe('verifyWebhook', () => {
  it.each([
    ['a whsec_ secret', SECRET],
    ['a text as secret', 'hunter2-hunter2-hunter2!~'],
  ])('accepts a delivery signed with %s', (_what, secret) => {
    verifyWebhook(signed(secret), BODY, secret, NOW)
    verifyWebhook(signed(secret), Buffer.from(BODY), secret, NOW)
    const ours = { id: 'evt_1', timestampSeconds: NOW / 1000, body: BODY, secrets: [secret] }
    verifyWebhook(signatureHeaders(ours), BODY, secret, NOW)
  })

  it('accepts one valid signature among several, as during a rotation of the secret', () => {
    const headers = signatureHeaders({
      id: 'evt_1',
      timestampSeconds: NOW / 1000,
      body: BODY,
      secrets: [OTHER, SECRET],
    })
    verifyWebhook(headers, BODY, SECRET, NOW)
    verifyWebhook(headers, BODY, OTHER, NOW)
  })

  it('uses the current time by default', () => {
    verifyWebhook(signed(SECRET, { at: Date.now() }), BODY, SECRET)
    expect(() => verifyWebhook(signed(SECRET, { at: 0 }), BODY, SECRET)).toThrow(/five minutes/)
  })

  it.each([-300, 300])('accepts a clock that is off by %i seconds', (seconds) => {
    verifyWebhook(signed(SECRET, { at: NOW + seconds * 1000 }), BODY, SECRET, NOW)
  })

  const headers = signed(SECRET)
  it.each([
    ['another secret', signed(OTHER), BODY, /does not match this body and secret/],
    ['another body', headers, BODY.replace('1', '2'), /does not match this body/],
    ['another id', { ...headers, 'webhook-id': 'evt_2' }, BODY, /does not match this body/],
    [
      'another time',
      { ...headers, 'webhook-timestamp': `${NOW / 1000 + 1}` },
      BODY,
      /does not match this body/,
    ],
    ['an old delivery', signed(SECRET, { at: NOW - 301_000 }), BODY, /five minutes off/],
    ['a delivery from the future', signed(SECRET, { at: NOW + 301_000 }), BODY, /five minutes off/],
    ['a malformed time', { ...headers, 'webhook-timestamp': 'now' }, BODY, /five minutes off/],
    ['a missing id', { ...headers, 'webhook-id': undefined }, BODY, /missing/],
    ['a missing time', { ...headers, 'webhook-timestamp': undefined }, BODY, /missing/],
    ['a missing signature', { ...headers, 'webhook-signature': undefined }, BODY, /missing/],
    [
      'another signature version',
      { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v2,') },
      BODY,
      /does not match this body/,
    ],
    [
      'a truncated signature',
      { ...headers, 'webhook-signature': headers['webhook-signature'].slice(0, -4) },
      BODY,
      /does not match this body/,
    ],
  ])('rejects %s', (_what, given, body, message) => {
    expect(() => verifyWebhook(given, body, SECRET, NOW)).toThrow(message)
  })
})
