import { listHolidays, renderHoliday } from '../shared/api/holidays.ts'
import { renderListPage } from '../shared/requests/list-page.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { holidayId, holidayStore } from '../shared/store/holidays.ts'

export const handler = endpoint(
  listHolidays,
  { holidays: holidayStore },
  async ({ clinicId, query }, { holidays: store }) => {
    const stored = await store.read(clinicId)
    const listed = stored.holidays.map((day) => ({ ...day, id: holidayId(clinicId, stored, day) }))
    return renderListPage(listed, query, renderHoliday)
  },
)
