import { ApiError } from '../shared/api/errors.ts'
import { createHoliday, renderHoliday } from '../shared/api/holidays.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { type Holiday, HolidayRejected, holidayChanges } from '../shared/store/copies/holiday-changes.ts'

export const handler = endpoint(
  createHoliday,
  { holidays: ({ table }) => holidayChanges(table) },
  async ({ clinicId, mayReadRecord, body, write }, { holidays }) => {
    const { from, to = from, name = null, external_id: externalId = null } = body
    const response = (holiday: Holiday) => ({
      data: renderHoliday(mayReadRecord ? holiday : { ...holiday, reason: name }),
    })
    const day = { from, to, reason: name }
    const added = await holidays.add(clinicId, day, externalId, write(response)).catch((error: Error) => {
      if (!(error instanceof HolidayRejected)) throw error
      throw new ApiError('validation', { details: [{ field: 'from', issue: error.message }] })
    })
    return response(added)
  },
)
