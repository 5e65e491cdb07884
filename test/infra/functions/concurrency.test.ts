import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkConcurrency, REQUEST_SECONDS } from '../../../infra/functions/concurrency.ts'
import type { Throttle } from '../../../infra/settings/stages.ts'
import { functionIds } from '../../../infra/stacks/deployment.ts'
import { BASE_PATH } from '../../../shared/api/route.ts'
import { ENDPOINTS, ROUTES } from '../../../shared/api/routes.ts'
import { resourceOfFunction, resourcesOf, settingsOf, templateOf } from '../../support/template.ts'

/** The reserved concurrency of each function that has a reservation. */
function reservations(accountConcurrency?: string): Record<string, number> {
  const template = templateOf('prod', { accountConcurrency })
  return Object.fromEntries(
    functionIds().flatMap((id) => {
      const { Properties } = resourceOfFunction(template, 'AWS::Lambda::Function', id)
      const { ReservedConcurrentExecutions: reserved } = Properties as Record<string, number>
      return reserved === undefined ? [] : [[id, reserved]]
    }),
  )
}

/** What the gateway admits to each endpoint's function, by all of its paths together. */
function admittedTo(template: Parameters<typeof resourcesOf>[0]): Map<string, Throttle> {
  const [stage] = Object.values(resourcesOf(template, 'AWS::ApiGateway::Stage'))
  const settings = (stage?.Properties.MethodSettings ?? []) as Record<string, unknown>[]
  const admitted = new Map<string, Throttle>()
  for (const { id, aliasOf = id, method, path } of ROUTES) {
    const resource = `/${BASE_PATH}${path}`.replaceAll('/', '~1').replace(/^~1/, '/')
    const own = settings.find(
      ({ ResourcePath, HttpMethod }) => ResourcePath === resource && HttpMethod === method,
    )
    const { rate, burst } = admitted.get(aliasOf) ?? { rate: 0, burst: 0 }
    admitted.set(aliasOf, {
      rate: rate + Number(own?.ThrottlingRateLimit),
      burst: burst + Number(own?.ThrottlingBurstLimit),
    })
  }
  return admitted
}

describe('the concurrency of the account', () => {
  it('is not reserved by default: a new account has too little', () => {
    expect(reservations()).toEqual({})
  })

  it('is reserved for lists, what needs no credential, the fan-out and SMS receipts when the deployment names it', () => {
    const lists = ENDPOINTS.filter(({ id }) => id.startsWith('list-'))
    const others = ['fallback', 'reference', 'fan-out-events', 'sms-receipts']
    const reserved = reservations('1000')
    expect(Object.keys(reserved).sort()).toEqual([...lists.map(({ id }) => id), ...others].sort())
    expect(reserved).toMatchObject({ 'list-appointments': 62, 'list-invoices': 20, 'list-rooms': 10 })
    expect(others.map((id) => reserved[id])).toEqual([10, 10, 100, 10])
  })

  it.each([608, 1000, 10_000])('of %i leaves what AWS requires to be unreserved', (limit) => {
    const reserved = Object.values(reservations(String(limit)))
    expect(limit - reserved.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(100)
  })

  it.each([608, 1000, 10_000])('of %i serves what the gateway admits to each function', (limit) => {
    const reserved = reservations(String(limit))
    const free = Object.values(reserved).reduce((left, count) => left - count, limit)
    const admitted = admittedTo(templateOf('prod', { accountConcurrency: String(limit) }))
    expect(admitted.size).toBe(ENDPOINTS.length)
    const rejecting = [...admitted].filter(
      ([id, { rate, burst }]) => !(burst + rate * 2 * REQUEST_SECONDS <= (reserved[id] ?? free)),
    )
    expect(rejecting).toEqual([])
  })

  it('must be what the documentation says', () => {
    expect(readFileSync('docs/operate/README.md', 'utf8')).toContain('which is so below 608.')
    expect(() => checkConcurrency(607)).toThrow(/is too low/)
  })

  it('must be twice what workers can take', () => {
    expect(() => checkConcurrency(undefined)).not.toThrow()
    expect(() => checkConcurrency(608)).not.toThrow()
    expect(() => checkConcurrency(570)).toThrow(/is too low/)
    // Emails 2, feedback 10, deliveries 200, sweeps 12, fan-out 30, SMS receipts 10.
    expect(() => checkConcurrency(200)).toThrow(
      'accountConcurrency=200 is too low: workers can take 264 at a time, which is more than half.',
    )
    expect(() => templateOf('prod', { accountConcurrency: '200' })).toThrow(/is too low/)
  })

  it.each(['', '0', '-1', '1.5', '1e3', ' 1000'])('is not %j', (accountConcurrency) => {
    expect(() => settingsOf('prod', { accountConcurrency })).toThrow(/^accountConcurrency must be an integer/)
  })
})
