/** The document works with the tools that integrators use: a linter and a type generator. */
import { execFile } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, inject, it } from 'vitest'

const execute = promisify(execFile)
const DOCUMENT = resolve('docs/openapi.json')

/** Runs a program, and rejects unless it exits with 0. */
const run = (program: string, ...args: string[]) =>
  execute(resolve(program), args, { env: { ...process.env, REDOCLY_TELEMETRY: 'off', CI: '1' } })

it('compiles to types that accept valid code and reject invalid code', async () => {
  const folder = mkdtempSync(join(inject('runFolder'), 'clinic-types-'))
  const { stderr } = await run(
    'shared/clients/typescript/node_modules/.bin/openapi-typescript',
    DOCUMENT,
    '-o',
    join(folder, 'schema.ts'),
  )
  expect(stderr).toBe('')
  writeFileSync(join(folder, 'use.ts'), USE)
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--allowImportingTsExtensions']
  await run('shared/clients/typescript/node_modules/.bin/tsc', ...options, join(folder, 'use.ts'))
}, 60_000)

/** Code that must compile, and code that must not. */
const USE = `
import type { components, operations, webhooks } from './schema.ts'

type Json<R> = R extends { content: { 'application/json': infer J } } ? J : never
type Answers<O extends keyof operations> = operations[O]['responses']

export const gender = (page: Json<Answers<'list-patients'>[200]>): 'male' | 'female' | 'other' | 'unknown' | null | undefined =>
  page.data[0]?.gender
export const rejected = (body: Json<Answers<'create-appointment'>[409]>): string =>
  body.message === 'errors.developer_api.slot_unavailable' ? (body.details[0]?.start_time ?? '') : body.message
export const status = (event: webhooks['invoice.paid']['post']['requestBody']['content']['application/json']): 'paid' =>
  event.data.status
export const patient: components['schemas']['PatientCreate'] = { first_name: 'Ada', last_name: 'Kaya', gender: null }
// @ts-expect-error the first name is missing
export const nameless: components['schemas']['PatientCreate'] = { last_name: 'Kaya' }
// @ts-expect-error an endpoint has no such error
export const wrong: Json<Answers<'get-patient'>[404]>['message'] = 'errors.developer_api.invoice_not_found'
// @ts-expect-error no such channel
export const fax: Json<NonNullable<operations['send-message']['requestBody']>>['channel'] = 'fax'
export function one(event: Json<Answers<'list-events'>[200]>['data'][number]): string {
  if (event.event === 'import.completed') return event.data.entity
  if (event.event === 'clinic.updated') return event.data.changed
  return event.event === 'payment.created' ? event.data.invoice_id : event.data.id
}
`
