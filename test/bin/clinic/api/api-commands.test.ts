/** The commands that are made from the API document. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../../../bin/clinic/api/operations.ts'
import { ROUTES } from '../../../../shared/api/routes.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { COMMANDS } from '../../../../shared/operator/commands.ts'
import { clinicStore } from '../../../../shared/store/clinics.ts'
import { type RunningStack, runStack } from '../../../support/local-stack.ts'
import { runTool } from '../../../support/operator-tool.ts'
import { createRouteSamples, pathOf, type RouteSamples, requestOf } from '../../../support/route-samples.ts'

let stack: RunningStack
let samples: RouteSamples
beforeAll(async () => {
  stack = await runStack()
  const clinic = await clinicStore(stack).find(stack.clinics[0]?.id as ClinicId)
  if (!clinic) throw new Error('the stack has no demo clinic')
  samples = await createRouteSamples(stack.table, { clinic })
})
afterAll(() => stack.close())

const runWith = (env: Record<string, string>, ...args: string[]) =>
  runTool(args, { PORT: new URL(stack.baseUrl).port, ...env })
const run = (...args: string[]) =>
  runWith({ CLINIC_CREDENTIAL: stack.clinics[0]?.credentials.full ?? '' }, ...args)

const optionsOf = (fields: object): string[] =>
  Object.entries(fields).flatMap(([name, value]) => [
    `--${name.replaceAll('_', '-')}`,
    value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value),
  ])

describe('each operation', () => {
  it('is called by its command with its sample', async () => {
    const failures: string[] = []
    for (const { noun, verb, endpoint } of OPERATIONS) {
      if (`${noun} ${verb}` in COMMANDS) continue
      const route = ROUTES.find(({ id }) => id === endpoint.operation.operationId)
      if (!route) throw new Error(`no route ${endpoint.operation.operationId}`)
      const ids = await samples.idsFor(route)
      const { query, body = '{}' } = requestOf(route, ids)
      const args = [
        noun,
        verb,
        ...Object.values(pathOf(route, ids)),
        ...optionsOf({ ...query, ...JSON.parse(body) }),
      ]
      const result = await run(...args, ...(route.method === 'DELETE' ? ['--yes'] : []), '--json')
      if (result.code !== 0) failures.push(`${args.join(' ')}: ${result.errors}`)
    }
    expect(failures).toEqual([])
  }, 300_000)

  it('has a command of its own', () => {
    const names = OPERATIONS.map(({ noun, verb }) => `${noun} ${verb}`)
    expect(new Set(names).size).toBe(names.length)
  })
})

describe('a command of the document', () => {
  it('prints a list as a table with the names of the fields, and with --all every page', async () => {
    const one = await run('event', 'list', '--limit', '1')
    expect(one.printed).toMatch(/^id +event +/)
    expect(one.printed.split('\n')).toHaveLength(3)
    expect(one.errors).toContain(': --all lists all\n')
    const all = JSON.parse((await run('event', 'list', '--limit', '1', '--all', '--json')).printed)
    expect(all.data.length).toBeGreaterThan(1)
    const matching = await run('event', 'list', '--all', '--match', all.data[0].id.toUpperCase(), '--json')
    expect(JSON.parse(matching.printed).data).toEqual([all.data[0]])
  })

  it('names the option of a rejected field, what to do, and the request', async () => {
    const { code, errors } = await run(
      'patient',
      'create',
      '--first-name',
      'Ada',
      '--last-name',
      'x'.repeat(300),
    )
    expect(code).toBe(2)
    expect(errors).toMatch(/Correct what `details` names.*\n {2}--last-name .*\nRequest \S+\n$/s)
  })

  it('names the option that was probably meant', async () => {
    expect((await run('patient', 'create', '--frist-name', 'Ada')).errors).toContain(
      '(Did you mean --first-name?)',
    )
  })

  it('names the clinic after a write', async () => {
    const { errors } = await run('patient', 'create', '--first-name', 'Ada', '--last-name', 'Kaya')
    expect(errors).toBe(`Clinic: ${samples.clinic.name} (${samples.clinic.id})\n`)
  })

  it('refuses a clinic that the credential does not belong to', async () => {
    const { code, errors } = await run('event', 'list', '--clinic', stack.clinics[1]?.name ?? '')
    expect(code).toBe(2)
    expect(errors).toContain(`The credential belongs to ${samples.clinic.name}`)
    expect((await run('event', 'list', '--clinic', samples.clinic.name)).code).toBe(0)
  })

  it('without a credential, says how to make one', async () => {
    const { code, errors } = await runWith({}, 'event', 'list')
    expect(code).toBe(2)
    expect(errors).toContain('clinic credential create-temporary')
  })

  it('prints the idempotency key of a request whose outcome is unknown', async () => {
    const server = createServer((request, response) =>
      request.url?.endsWith('/me')
        ? response.end(JSON.stringify({ data: { clinic: { id: 'c', name: 'Nord' } } }))
        : response.socket?.destroy(),
    ).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const args = ['--first-name', 'Ada', '--last-name', 'Kaya', '--api', address, '--idempotency-key', 'k-1']
    const { code, errors } = await run('patient', 'create', ...args)
    server.close()
    expect(code).toBe(3)
    expect(errors).toContain('may have taken effect. Repeat it with --idempotency-key k-1')
  })

  it('sends any request with `api`', async () => {
    expect((await run('api', 'GET', '/webhooks?limit=1')).printed).toContain('"data": [')
    const path = `/webhooks/${samples.webhook.id}/ping`
    expect((await run('api', 'POST', path, '--data', '{}')).printed).toContain('"data": {')
  })
})

it('a temporary credential is named after the operator, reads, and expires in eight hours', async () => {
  const { printed } = await run('credential', 'create-temporary', '--clinic', samples.clinic.id, '--json')
  const { name, scopes, expires_at: expires } = JSON.parse(printed).data
  expect(name).toBe('local')
  expect(scopes.every((scope: string) => scope.includes('.read'))).toBe(true)
  expect(Date.parse(expires) - Date.now()).toBeLessThanOrEqual(8 * 3_600_000)
})
