import type { ClinicId } from '../../domain/clinic.ts'
import { HOLDS } from '../../store/calendar/busy-days.ts'
import { dayKeys, HOLD } from '../../store/calendar/holds.ts'
import { holdsPartition, isHoldList } from '../../store/keys/calendar.ts'
import type { Table } from '../../store/table/table.ts'
import { partitionPages } from '../walk/partition-pages.ts'

/** Ends all holds of a clinic that is being restored, to which nothing else writes. */
export async function endHolds(table: Table, clinic: ClinicId): Promise<void> {
  const end = { UpdateExpression: `REMOVE ${HOLDS} ADD v :one`, ExpressionAttributeValues: { ':one': 1 } }
  for await (const items of partitionPages(table, holdsPartition(clinic))) {
    const holds = items.filter((item) => !isHoldList(item)).map((item) => HOLD.decode(item, item.sk))
    for (const key of holds.flatMap((hold) => dayKeys(clinic, hold))) await table.update(key, end)
    await table.deleteMany(items)
  }
}
