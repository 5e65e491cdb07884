import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkConcurrency } from '../../../infra/functions/concurrency.ts'
import { functionIds } from '../../../infra/stacks/deployment.ts'
import { ENDPOINTS } from '../../../shared/api/routes.ts'
import { resourceOfFunction, settingsOf, templateOf } from '../../support/template.ts'

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

describe('the concurrency of the account', () => {
  it('is not reserved by default: a new account has too little', () => {
    expect(reservations()).toEqual({})
  })

  it('is reserved for lists, the fan-out and SMS receipts when the deployment names it', () => {
    const lists = ENDPOINTS.filter(({ id }) => id.startsWith('list-'))
    expect(reservations('1000')).toEqual({
      ...Object.fromEntries(lists.map(({ id }) => [id, Math.floor(300 / lists.length)])),
      'fan-out-events': 100,
      'sms-receipts': 10,
    })
  })

  it.each([608, 1000, 10_000])('of %i leaves what AWS requires to be unreserved', (limit) => {
    const reserved = Object.values(reservations(String(limit)))
    expect(limit - reserved.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(100)
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
