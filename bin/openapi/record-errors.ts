import { scopesOf } from '../../shared/api/route.ts'
import { ROUTES } from '../../shared/api/routes.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import type { ReadyClinic } from '../demo/load.ts'
import type { ExampleRecorder } from './example-recorder.ts'
import type { Operator } from './operator.ts'

/** More than a body may have. */
const TOO_LARGE = ' '.repeat(256 * 1024 + 1)

type ErrorContext = {
  readonly webhook: string
  readonly clinic: ReadyClinic
  readonly tool: Operator
}

/** What every route refuses alike, and what each refuses in its own words. */
export async function recordErrors(
  recorder: ExampleRecorder,
  { webhook, clinic, tool }: ErrorContext,
): Promise<void> {
  const { recordError: refuse } = recorder
  for (const route of ROUTES) {
    const { id, method, body, query, params = {} } = route
    const path = route.path.replace(/\{\w+\}/g, () => webhook)
    const invalidQuery = query && 'limit' in query.shape ? 'limit=1000' : 'colour=blue'
    await refuse('invalid_params', method, `${path}?${invalidQuery}`, {}, id)
    await refuse('missing_scope', method, path, { pair: clinic.credentials.none }, id)
    if (body) await refuse('validation', method, path, { body: { colour: 'blue' } }, id)
    if (scopesOf(route).includes('patient.read') && Object.keys(params).length === 0)
      await refuse('invalid_params', method, `${path}?limit=0&page=one&colour=blue`, {}, id)
  }
  const unknownId = newUuid()
  await refuse('patient_not_found', 'GET', `/patients/${unknownId}`)
  await refuse('invoice_not_found', 'GET', `/invoices/${unknownId}`)
  await refuse('webhook_not_found', 'DELETE', `/webhooks/${unknownId}`)
  await refuse('delivery_not_found', 'POST', `/webhooks/${webhook}/deliveries/${unknownId}/redeliver`)
  await refuse('unauthorized', 'GET', '/patients', { pair: 'KEY:SECRET' })
  await refuse('route_not_found', 'GET', '/rooms')
  await refuse('method_not_allowed', 'PUT', `/patients/${unknownId}`)
  await refuse('invalid_params', 'GET', '/patients?limit=0')
  await refuse('malformed_json', 'POST', '/patients', { body: '{"first_name": "Defne",}' })
  await refuse('payload_too_large', 'POST', '/patients', { body: TOO_LARGE })
  await refuse('unsupported_media_type', 'POST', '/patients', {
    body: 'first_name=Defne',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  const headers = { 'idempotency-key': 'import-2026-05-04-row-17' }
  const another = { first_name: 'Defne', last_name: 'Acar' }
  await refuse('idempotency_key_reused', 'POST', '/patients', { body: another, headers })
  const tooLong = { 'idempotency-key': 'x'.repeat(256) }
  await refuse('invalid_idempotency_key', 'POST', '/patients', { body: another, headers: tooLong })
  await recordRateLimit(recorder, tool)
}

async function recordRateLimit(
  { sendRequest: ask, recordError: refuse }: ExampleRecorder,
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
  // Minutes end when they like: the second of three requests is then in the next, and the third not.
  for (let sent = 0; sent < 2; sent++) await ask('GET', '/doctors', { pair })
  await refuse('rate_limited', 'GET', '/doctors', { pair })
}
