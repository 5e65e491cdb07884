/** `node bin/zones.ts`: writes the table of time zones from the data of this Node. */
import { writeFileSync } from 'node:fs'
import { Temporal } from 'temporal-polyfill'
import { LAST_YEAR, ruleInstant, type ZoneRule } from '../shared/domain/time-zone.ts'

const FILE = 'shared/domain/time-zone-table.ts'

/** The first year of the table. Intl knows the years before. */
const FIRST_YEAR = 2010
const START = Date.UTC(FIRST_YEAR, 0, 1)

/** Current names of zones that Node lists under an older one. */
const CURRENT_NAMES = [
  'Africa/Asmara',
  'America/Argentina/Buenos_Aires',
  'America/Argentina/Catamarca',
  'America/Argentina/Cordoba',
  'America/Argentina/Jujuy',
  'America/Argentina/Mendoza',
  'America/Atikokan',
  'America/Indiana/Indianapolis',
  'America/Kentucky/Louisville',
  'America/Nuuk',
  'Asia/Ho_Chi_Minh',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Yangon',
  'Atlantic/Faroe',
  'Etc/UTC',
  'Europe/Kyiv',
  'Pacific/Chuuk',
  'Pacific/Kanton',
  'Pacific/Pohnpei',
  'UTC',
]

type Transition = { readonly at: number; readonly before: number; readonly after: number }

const minutes = (at: Temporal.ZonedDateTime): number => at.offsetNanoseconds / 60e9

function transitionsOf(zone: string): { readonly first: number; readonly transitions: Transition[] } {
  const start = Temporal.Instant.fromEpochMilliseconds(START).toZonedDateTimeISO(zone)
  const transitions: Transition[] = []
  for (
    let at = start.getTimeZoneTransition('next');
    at && at.toInstant().toZonedDateTimeISO('UTC').year <= LAST_YEAR;
    at = at.getTimeZoneTransition('next')
  )
    transitions.push({
      at: at.epochMilliseconds,
      before: minutes(at.subtract({ nanoseconds: 1 })),
      after: minutes(at),
    })
  return { first: minutes(start), transitions: transitions.filter(({ before, after }) => before !== after) }
}

/** The rule that all these transitions follow, if they are of the same kind in successive years. */
function ruleOf(transitions: readonly Transition[]): ZoneRule | null {
  const local = transitions.map(({ at, before }) => new Date(at + before * 60_000))
  const [first, offset] = [local[0], transitions[0]]
  if (!first || !offset) return null
  const rule: ZoneRule = {
    month: first.getUTCMonth(),
    firstDay: Math.min(...local.map((date) => date.getUTCDate())),
    weekday: first.getUTCDay(),
    minute: first.getUTCHours() * 60 + first.getUTCMinutes(),
    offset: offset.after,
  }
  const follows = ({ at, before, after }: Transition) =>
    after === rule.offset && ruleInstant(rule, new Date(at + before * 60_000).getUTCFullYear(), before) === at
  return transitions.every(follows) ? rule : null
}

/** The transitions of a zone: listed ones, and then the two rules of each year from the first that follows them. */
function packed(zone: string): string {
  const { first, transitions } = transitionsOf(zone)
  const yearOf = ({ at, before }: Transition) => new Date(at + before * 60_000).getUTCFullYear()
  const sample = transitions.filter((one) => yearOf(one) > LAST_YEAR - 29)
  const rules = [0, 1].map((half) => ruleOf(sample.filter((_, at) => at % 2 === half)))
  const isRegular = sample.length === 58 && rules.every((rule) => rule !== null)
  let ruled = transitions.length
  while (
    isRegular &&
    ruled >= 2 &&
    rules.every((rule, half) => {
      const one = transitions[ruled - 2 + half] as Transition
      return one.after === rule?.offset && ruleInstant(rule, yearOf(one), one.before) === one.at
    }) &&
    yearOf(transitions[ruled - 2] as Transition) === yearOf(transitions[ruled - 1] as Transition)
  )
    ruled -= 2
  let at = START
  const listed = transitions.slice(0, ruled).map((transition) => {
    const delta = (transition.at - at) / 60_000
    at = transition.at
    return `${delta.toString(36)},${(transition.after / 15).toString(36)}`
  })
  const year = transitions[ruled]
  const rule = (of: ZoneRule | null) =>
    of &&
    [of.month, of.firstDay, of.weekday, of.minute, of.offset / 15].map((part) => part.toString(36)).join(',')
  return [
    (first / 15).toString(36),
    listed.join(' '),
    ...(isRegular && year ? [yearOf(year).toString(36), ...rules.map(rule)] : []),
  ].join('|')
}

/** The text of the file with the table. */
export function timeZoneTable(): string {
  const names = [...Intl.supportedValuesOf('timeZone'), ...CURRENT_NAMES]
  const zones = Map.groupBy([...new Set(names)].sort(), packed)
  const lines = [...zones].map(([line, members]) => ` ${members.join(' ')} |${line}`)
  return `/** Written by \`node bin/zones.ts\` from the time zones of Node (tzdata ${process.versions.tz}). See time-zone.ts. */
export const ZONES = \`
${lines.join('\n')}
\`
`
}

if (import.meta.main) writeFileSync(FILE, timeZoneTable())
