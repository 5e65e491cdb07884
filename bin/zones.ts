/** `node bin/zones.ts`: writes the table of time zones from the data of moment-timezone. */
import { writeFileSync } from 'node:fs'
import moment from 'moment-timezone'
import { TABLE_END, TABLE_START } from '../shared/domain/time-zone.ts'

const MINUTE_MS = 60_000

/** The first offset of a zone, and its changes. */
function offsetsOf(name: string): string {
  // Each offset is in minutes to the west, and applies until an instant.
  const { untils, offsets } = moment.tz.zone(name) as moment.MomentZone
  const offsetAt = (index: number) => 0 - (offsets[index] ?? 0)
  const changes = untils.flatMap((until, at) =>
    until > TABLE_START && until < TABLE_END && offsetAt(at) !== offsetAt(at + 1)
      ? [`${until / MINUTE_MS}:${offsetAt(at + 1)}`]
      : [],
  )
  return [offsetAt(untils.findIndex((until) => until > TABLE_START)), ...changes].join(' ')
}

/** The text of the file with the table. */
export function timeZoneTable(): string {
  const zones = Map.groupBy(moment.tz.names(), offsetsOf)
  const lines = [...zones].map(([offsets, names]) => `${names.join(' ')} | ${offsets}`)
  return `/** The version of the time zone database that the table is from. */
export const TZDATA = '${moment.tz.dataVersion}'

/**
 * The offsets of all time zones from 2010 to 2060, in minutes ahead of UTC. Written by \`node bin/zones.ts\`.
 *
 * A line has the names of zones with the same offsets, the offset at the start of 2010, and each change as INSTANT:OFFSET: the minutes
 * from 1970 in UTC until the change, and the offset from then on.
 */
export const ZONES = \`
${lines.join('\n')}
\`
`
}

if (import.meta.main) writeFileSync('shared/domain/time-zone-table.ts', timeZoneTable())
