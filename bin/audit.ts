/**
 * `npm run audit -- REPORT`: fails for advisories in a report of `npm audit --json` that have to be dealt with. The report can be made
 * elsewhere, so this needs no network.
 */
import { readFileSync } from 'node:fs'
import * as z from 'zod'

/** Advisories by URL for which no fixed version exists, with the reason why they do no harm here. Each is looked at again after its day. */
const ACCEPTED: Accepted = {}

export type Accepted = Readonly<Record<string, { readonly until: string; readonly reason: string }>>

const Advisory = z.object({
  url: z.string(),
  title: z.string(),
  name: z.string(),
  range: z.string(),
  severity: z.enum(['info', 'low', 'moderate', 'high', 'critical']),
})

const Report = z.object({
  auditReportVersion: z.literal(2),
  // A package that depends on an affected one has its name instead of an advisory.
  vulnerabilities: z.record(z.string(), z.object({ via: z.array(z.union([z.string(), Advisory])) })),
})

/**
 * The advisories of high or critical severity that are not accepted on a day (`YYYY-MM-DD`), a line each.
 * @throws Error if the text is no report, such as that of an audit that failed
 */
export function openAdvisories(report: string, today: string, accepted: Accepted = ACCEPTED): string[] {
  const { vulnerabilities } = Report.parse(JSON.parse(report))
  const advisories = Object.values(vulnerabilities).flatMap(({ via }) =>
    via.flatMap((each) => (typeof each === 'string' ? [] : [each])),
  )
  return advisories
    .filter(({ severity }) => severity === 'high' || severity === 'critical')
    .filter(({ url }) => (accepted[url]?.until ?? '') < today)
    .map(({ severity, name, range, title, url }) => `${severity}: ${name} ${range}: ${title} (${url})`)
}

if (import.meta.main) {
  const [file] = process.argv.slice(2)
  if (file === undefined) throw new Error('Name the report: npm audit --json > report.json')
  const open = openAdvisories(readFileSync(file, 'utf8'), new Date().toISOString().slice(0, 10))
  for (const line of open) process.stdout.write(`${line}\n`)
  if (open.length > 0) process.exitCode = 1
}
