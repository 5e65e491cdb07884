import { deleteHoliday } from '../shared/api/holidays.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { holidayChanges } from '../shared/store/copies/holiday-changes.ts'

export const handler = endpoint(
  deleteHoliday,
  { holidays: ({ table }) => holidayChanges(table) },
  async ({ clinicId, path, write }, { holidays }) => {
    const isRemoved = await holidays.remove(
      clinicId,
      path.id,
      write(() => ({})),
    )
    return isRemoved ? undefined : null
  },
)
