import { scopesOf } from '../../shared/api/route.ts'
import { ROUTES } from '../../shared/api/routes.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import type { ReadyClinic } from '../demo/load.ts'
import type { ExampleRecorder } from './example-recorder.ts'
import type { Operator } from './operator.ts'

/** One byte more than the largest request body. */
const TOO_LARGE = ' '.repeat(256 * 1024 + 1)

type ErrorContext = {
  readonly webhook: string
  readonly clinic: ReadyClinic
  readonly tool: Operator
}

/** Records the errors of every route, then those that are the same for all routes. */
export async function recordErrors(
  recorder: ExampleRecorder,
  { webhook, clinic, tool }: ErrorContext,
): Promise<void> {
  const { recordError } = recorder
  for (const route of ROUTES.filter(({ aliasOf }) => aliasOf === undefined)) {
    const { id, method, scope, body, query, params = {} } = route
    const path = route.path.replace(/\{\w+\}/g, () => webhook)
    const invalidQuery = query && 'limit' in query.shape ? 'limit=1000' : 'colour=blue'
    await recordError('invalid_params', method, `${path}?${invalidQuery}`, {}, id)
    if (scope !== null)
      await recordError('missing_scope', method, path, { pair: clinic.credentials.none }, id)
    if (body) await recordError('validation', method, path, { body: { colour: 'blue' } }, id)
    if (scopesOf(route).includes('patient.read') && Object.keys(params).length === 0)
      await recordError('invalid_params', method, `${path}?limit=0&page=one&colour=blue`, {}, id)
  }
  const unknownId = newUuid()
  await recordError('patient_not_found', 'GET', `/patients/${unknownId}`)
  await recordError('invoice_not_found', 'GET', `/invoices/${unknownId}`)
  await recordError('doctor_not_found', 'GET', `/doctors/${unknownId}`)
  await recordError('appointment_not_found', 'GET', `/appointments/${unknownId}`)
  await recordError('payment_not_found', 'GET', `/payments/${unknownId}`)
  await recordError('message_not_found', 'GET', `/messages/${unknownId}`)
  await recordError('treatment_not_found', 'GET', `/clinic/treatments/${unknownId}`)
  await recordError('webhook_not_found', 'DELETE', `/webhooks/${unknownId}`)
  await recordError('delivery_not_found', 'POST', `/webhooks/${webhook}/deliveries/${unknownId}/redeliver`)
  await recordError('unauthorized', 'GET', '/patients', { pair: 'KEY:SECRET' })
  await recordError('route_not_found', 'GET', '/no-such-path')
  await recordError('method_not_allowed', 'PUT', `/patients/${unknownId}`)
  await recordError('invalid_params', 'GET', '/patients?limit=0')
  await recordError('invalid_cursor', 'GET', '/events?after=-')
  await recordError('malformed_json', 'POST', '/patients', { body: '{"first_name": "Defne",}' })
  await recordError('payload_too_large', 'POST', '/patients', { body: TOO_LARGE })
  await recordError('unsupported_media_type', 'POST', '/patients', {
    body: 'first_name=Defne',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  const headers = { 'idempotency-key': 'import-2026-05-04-row-17' }
  const another = { first_name: 'Defne', last_name: 'Acar' }
  await recordError('idempotency_key_reused', 'POST', '/patients', { body: another, headers })
  const both = { ...headers, 'x-idempotency-key': 'another' }
  await recordError('conflicting_idempotency_keys', 'POST', '/patients', { body: another, headers: both })
  const tooLong = { 'idempotency-key': 'x'.repeat(256) }
  await recordError('invalid_idempotency_key', 'POST', '/patients', { body: another, headers: tooLong })
  await recordRateLimit(recorder, tool)
}

async function recordRateLimit(
  { sendRequest, recordError }: ExampleRecorder,
  { run }: Operator,
): Promise<void> {
  const { key, secret } = await run(
    'credential',
    'create',
    '--name',
    'Slow',
    '--scopes',
    'all',
    '--rate',
    '1',
  )
  const pair = `${key}:${secret}`
  // Three requests in total: if a new minute begins after the first, the second and third still share one.
  for (let sent = 0; sent < 2; sent++) await sendRequest('GET', '/doctors', { pair })
  await recordError('rate_limited', 'GET', '/doctors', { pair })
}
