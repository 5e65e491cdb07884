/** `npm run bench -- --fleet`: deliveries, emails and costs of ten thousand clinics, simulated. */
import { brokenBounds } from './bounds.ts'
import { type EmailLoad, simulateEmails } from './emails.ts'
import { monthlyCosts } from './prices.ts'
import { fleetSection, type Line } from './report.ts'
import { SCENARIOS } from './scenarios.ts'
import { simulate } from './simulate.ts'

const MINUTE = 60_000

/** The delays of `shared/domain/accept-message.ts` and `shared/delivery/sweep-messages.ts`. */
const EMAILS: Omit<EmailLoad, 'perSecond'> = {
  emails: 360_000,
  dueMs: 2 * MINUTE,
  minRecheckMs: 15 * MINUTE,
  maxRecheckMs: 60 * MINUTE,
  // Two parts, eight emails at a time, 31 ms each, for 45 s.
  sweptPerMinute: Math.floor((2 * 8 * 45_000) / 31),
}

/** Rates of SES, emails a second: of a new account, and after an increase. */
const EMAIL_RATES = [14, 50, 100]

/** Runs all scenarios, and returns the section of the report and the bounds that were exceeded. */
export async function measureFleet(print: (line: string) => void) {
  const lines: Line[] = []
  const failures: string[] = []
  for (const { name, scenario, isBound } of SCENARIOS) {
    print(`${name}...`)
    const simulation = await simulate(scenario)
    lines.push({ name, simulation })
    if (isBound) failures.push(...brokenBounds(simulation).map((bound) => `${name}: ${bound}`))
  }
  const emails = EMAIL_RATES.map((perSecond) => ({
    perSecond,
    outcome: simulateEmails({ ...EMAILS, perSecond }),
  }))
  const [usual] = lines as [Line, ...Line[]]
  return { section: fleetSection(lines, emails, monthlyCosts(usual.simulation)), failures }
}
