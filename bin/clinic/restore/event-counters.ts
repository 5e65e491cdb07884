import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { CALENDAR_LETTERS, calendarPartition } from '../../../shared/store/keys/calendar.ts'
import { patientKey } from '../../../shared/store/keys/patients.ts'
import { partitionPages } from '../verify/partition-pages.ts'
import { bySortKey, type Restore } from './mirror-partition.ts'

/**
 * Makes the events of every record continue after the last one that the source announced: receivers ignore an event whose
 * sequence number they have had. Returns the number of records.
 */
export async function continueEventCounters(
  { source, restored }: Restore,
  clinic: ClinicId,
): Promise<number> {
  let count = 0
  const partitions = [
    patientKey(clinic, '').pk,
    ...CALENDAR_LETTERS.map((letter) => calendarPartition(clinic, letter)),
  ]
  for (const pk of partitions) {
    for await (const page of partitionPages(source, pk)) {
      const existing = await bySortKey(restored, page)
      const behind = page.filter(({ sk, ev }) => {
        const item = existing.get(sk)
        return item && eventsOf(ev) > eventsOf(item.ev)
      })
      for (const { pk, sk, ev } of behind)
        await restored.update(
          { pk, sk },
          { UpdateExpression: 'SET ev = :count', ExpressionAttributeValues: { ':count': ev } },
        )
      count += behind.length
    }
  }
  return count
}

const eventsOf = (ev: unknown): number => (ev as number | undefined) ?? 0
