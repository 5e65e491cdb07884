import { expect, it } from 'vitest'
import type * as z from 'zod'
import { ApiError } from '../../../shared/api/errors.ts'
import type { Route } from '../../../shared/api/route.ts'
import { ENDPOINTS } from '../../../shared/api/routes.ts'
import { validateBody } from '../../../shared/http/read-body.ts'
import { parseQuery } from '../../../shared/http/validate.ts'

function issueOf(run: () => unknown, field: string): string | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return (error.details as { field: string; issue: string }[]).find((one) => one.field === field)?.issue
  }
}

const routeOf = (id: string) => ENDPOINTS.find((route) => route.id === id) as Route & { body: z.ZodObject }
const inBody = (id: string, name: string) =>
  issueOf(() => validateBody(routeOf(id).body, {}, { [name]: 'x' }), name)
const inQuery = (id: string, name: string) =>
  issueOf(() => parseQuery(routeOf(id).query, { [name]: ['x'] }), name)

it.each([
  ['create-appointment', 'patient', 'patient_id'],
  ['create-appointment', 'doctor', 'doctor_id'],
  ['create-appointment', 'room', 'room_id'],
  ['create-appointment', 'treatments', 'treatment_ids'],
  ['create-appointment', 'patientId', 'patient_id'],
  ['create-appointment', 'start-time', 'start_time'],
  ['create-appointment', 'apointment_date', 'appointment_date'],
  ['cancel-appointment', 'cancellation_reason', 'reason'],
  ['create-patient', 'full_name', 'first_name and last_name'],
  ['create-patient', 'First Name', 'first_name'],
])('names the field that was meant in the body of %s: %s', (id, name, meant) => {
  expect(inBody(id, name)).toBe(`is not a field of this request: did you mean ${meant}?`)
})

it.each([
  ['list-appointments', 'doctor', 'doctor_id'],
  ['list-appointments', 'from', 'date_from'],
  ['list-invoices', 'date_to', 'to'],
  ['list-patients', 'Search', 'search'],
])('names the parameter that was meant in the query of %s: %s', (id, name, meant) => {
  expect(inQuery(id, name)).toBe(`is not a parameter of this endpoint: did you mean ${meant}?`)
})

it.each(['nonsense', 'id', '', '__proto__', 'constructor', 'x'.repeat(200_000), 'treatments'])(
  'suggests nothing for a name that is like no field: %s',
  (name) => {
    const body = JSON.parse(`{${JSON.stringify(name)}: 1}`)
    const issue = issueOf(() => validateBody(routeOf('create-patient').body, {}, body), name)
    expect(issue).toBe('is not a field of this request')
  },
)

it('suggests fields for no more names than an error lists', () => {
  const body = Object.fromEntries(
    Array.from({ length: 100_000 }, (_, at) => [`first_name${at % 10}${at}`, 1]),
  )
  const start = performance.now()
  expect(issueOf(() => validateBody(routeOf('create-patient').body, {}, body), 'first_name00')).toMatch(
    /did you mean first_name\?$/,
  )
  expect(performance.now() - start).toBeLessThan(2000)
})
