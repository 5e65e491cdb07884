import { readFileSync } from 'node:fs'
import type { Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { REFERENCE_RESOURCES } from '../../../infra/api/api.ts'
import {
  checkConcurrency,
  interactiveConcurrency,
  REQUEST_SECONDS,
} from '../../../infra/functions/concurrency.ts'
import type { Settings } from '../../../infra/settings/settings.ts'
import type { Throttle } from '../../../infra/settings/stages.ts'
import { functionIds } from '../../../infra/stacks/deployment.ts'
import { BASE_PATH } from '../../../shared/api/route.ts'
import { ENDPOINTS, ROUTES } from '../../../shared/api/routes.ts'
import { WORKERS } from '../../../shared/runtime/workers.ts'
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

const NO_LIMIT: Throttle = { rate: Number.POSITIVE_INFINITY, burst: Number.POSITIVE_INFINITY }

/** What the gateway admits to each function, by all of its methods and paths together. */
function admittedTo(template: Template): Map<string, Throttle> {
  const [stage] = Object.values(resourcesOf(template, 'AWS::ApiGateway::Stage'))
  const settings = (stage?.Properties.MethodSettings ?? []) as Record<string, unknown>[]
  const admitted = new Map<string, Throttle>()
  const pages = REFERENCE_RESOURCES.flatMap((path) =>
    ['GET', 'HEAD'].map((method) => ({ id: 'reference', aliasOf: undefined, method, path })),
  )
  const routes = ROUTES.map((route) => ({ ...route, path: `${BASE_PATH}${route.path}` }))
  for (const { id, aliasOf = id, method, path } of [...routes, ...pages]) {
    const resource = path === '/' ? path : `/${path.replaceAll('/', '~1')}`
    const own = settings.find(
      ({ ResourcePath, HttpMethod }) => ResourcePath === resource && HttpMethod === method,
    )
    const before = admitted.get(aliasOf) ?? { rate: 0, burst: 0 }
    const { ThrottlingRateLimit = NO_LIMIT.rate, ThrottlingBurstLimit = NO_LIMIT.burst } = own ?? {}
    admitted.set(aliasOf, {
      rate: before.rate + Number(ThrottlingRateLimit),
      burst: before.burst + Number(ThrottlingBurstLimit),
    })
  }
  return admitted
}

/** Functions that run at the same time if all that is admitted comes at once, and each request takes twice as long as expected. */
const runningOf = ({ rate, burst }: Throttle): number => burst + rate * 2 * REQUEST_SECONDS

/** The share of requests that find no free function, by Erlang's formula: `load` is how many there are at a time on average. */
function rejectedShare(functions: number, load: number): number {
  let share = 1
  for (let n = 1; n <= functions; n++) share = (load * share) / (n + load * share)
  return share
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

/** Emails 2, feedback 10, deliveries 200, sweeps 11, SMS receipts 10; and the fan-out, a tenth. */
const workersOf = (limit: number): number => 234 + Math.floor(limit / 10)

describe('the concurrency of the account', () => {
  it('is not reserved by default: a new account has too little', () => {
    expect(reservations()).toEqual({})
  })

  it('is reserved for lists, the public pages, the fan-out and SMS receipts when the deployment names it', () => {
    const lists = ENDPOINTS.filter(({ id }) => id.startsWith('list-'))
    const others = ['reference', 'fan-out-events', 'sms-receipts']
    const reserved = reservations('1000')
    expect(Object.keys(reserved).sort()).toEqual([...lists.map(({ id }) => id), ...others].sort())
    expect(reserved).toMatchObject({ 'list-appointments': 58, 'list-invoices': 19, 'list-rooms': 9 })
    expect(others.map((id) => reserved[id])).toEqual([30, 100, 10])
  })

  it.each([640, 1000, 10_000])('of %i leaves what AWS requires to be unreserved', (limit) => {
    const reserved = Object.values(reservations(String(limit)))
    expect(limit - reserved.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(100)
  })

  it.each([640, 1000, 10_000])('of %i serves what the gateway admits to all functions at once', (limit) => {
    const reserved = reservations(String(limit))
    const admitted = admittedTo(templateOf('prod', { accountConcurrency: String(limit) }))
    expect(admitted.size).toBe(ENDPOINTS.length + 1)
    const overloaded = [...admitted].filter(
      ([id, throttle]) => reserved[id] !== undefined && runningOf(throttle) > reserved[id],
    )
    expect(overloaded).toEqual([])
    // The rest shares what is not reserved with the workers that have no reservation.
    const others = [...admitted].filter(([id]) => reserved[id] === undefined)
    expect(others.length).toBeGreaterThan(30)
    const workers = workersOf(limit) - (reserved['fan-out-events'] ?? 0) - (reserved['sms-receipts'] ?? 0)
    const running = sum(others.map(([, throttle]) => runningOf(throttle)))
    const free = limit - sum(Object.values(reserved)) - workers
    expect(running).toBeLessThanOrEqual(free)
    expect(running).toBeGreaterThan(0.6 * free)
  })

  it('is 1,000 by default in production: what the gateway admits to all functions at once fits into it', () => {
    const running = sum([...admittedTo(templateOf('prod')).values()].map(runningOf))
    expect(running + workersOf(1000)).toBeLessThanOrEqual(1000)
    expect(running).toBeGreaterThan(500)
  })

  it('rejects next to nothing of several endpoints at their limits, and the most used endpoints have the highest', () => {
    const admitted = admittedTo(templateOf('prod', { accountConcurrency: '1000' }))
    const interactive = [...admitted].filter(([id]) => !id.startsWith('list-') && id !== 'reference')
    const load = sum(interactive.map(([, { rate }]) => rate)) * 2 * REQUEST_SECONDS
    expect(rejectedShare(Math.floor(interactiveConcurrency(1000)), load)).toBeLessThan(1e-6)
    const [first] = interactive.sort(([, a], [, b]) => b.rate - a.rate)
    expect(first?.[0]).toBe('get-availability')
  })

  it('does not bound limits that are set by hand, unless it is given too', () => {
    const byHand = { throttleRate: '25', throttleBurst: '5' }
    const limitsWith = (settings: Settings) =>
      admittedTo(templateOf('prod', settings)).get('get-availability')
    expect(limitsWith(byHand)).toEqual({ rate: 25, burst: 5 })
    expect(limitsWith({ throttleRate: '5000' })).toEqual({ rate: 5000, burst: 500 })
    expect(limitsWith({ throttleRate: '5000', accountConcurrency: '1000' })?.rate).toBeLessThan(1000)
  })

  it('must be what the documentation says', () => {
    expect(readFileSync('docs/operate/README.md', 'utf8')).toContain('which is so below 586.')
    const parts = WORKERS.map(({ trigger }) => (trigger.type === 'schedule' ? (trigger.parts ?? 1) : 0))
    const scheduled = parts.reduce<number>((sum, count) => sum + count, 0)
    expect(readFileSync('docs/operate/README.md', 'utf8')).toContain(`the ${scheduled} scheduled functions`)
    expect(() => checkConcurrency(585)).toThrow(/is too low/)
  })

  it('must be twice what workers can take', () => {
    expect(() => checkConcurrency(undefined)).not.toThrow()
    expect(() => checkConcurrency(586)).not.toThrow()
    expect(() => checkConcurrency(570)).toThrow(/is too low/)
    // Emails 2, feedback 10, deliveries 200, sweeps 12, fan-out 20, SMS receipts 10, maintenance 2.
    expect(() => checkConcurrency(200)).toThrow(
      'accountConcurrency=200 is too low: workers can take 255 at a time, which is more than half.',
    )
    expect(() => templateOf('prod', { accountConcurrency: '200' })).toThrow(/is too low/)
  })

  it.each(['', '0', '-1', '1.5', '1e3', ' 1000'])('is not %j', (accountConcurrency) => {
    expect(() => settingsOf('prod', { accountConcurrency })).toThrow(
      /- accountConcurrency must be an integer/,
    )
  })
})
