/** Operations on appointments that exist: moves, and the actions of the API. */
import { identified, isErased } from '../model.ts'
import { demand, tick } from '../register.ts'
import { pick, type Run, submit } from '../run.ts'
import { demandRival, demandVacant, drawPlacement, occupants, placementFields } from './calendar.ts'
import { blocksOf, demandBlock, demandOpen } from './schedule.ts'

/** Bookings of the API, whose doctors have the hours of all placements. */
const bookingsOf = ({ clinic }: Run) => identified(clinic.bookings)

export async function moveAppointment(run: Run): Promise<void> {
  const { clinic, operation } = run
  const [byBooking, ...byPlacement] = operation.random
  const booking = pick(bookingsOf(run), byBooking)
  const placement = drawPlacement(clinic, byPlacement)
  if (!booking || !placement) return
  const start = tick()
  const takenBefore = occupants(clinic, placement, start, booking)
  // The time of an appointment that stays is not checked.
  const isElsewhere = booking.placements.every(
    ({ doctor, date, from }) =>
      doctor !== placement.doctor || date !== placement.date || from !== placement.from,
  )
  const blocksBefore = isElsewhere ? blocksOf(clinic, placement) : []
  const write = booking.placement.begin(placement)
  booking.placements.push(placement)
  const outcome = await submit(run, 'update-appointment', {
    path: { id: booking.id },
    body: placementFields(placement),
  })
  if (outcome.kind === 'unknown') return
  booking.placement.settle(write, outcome.kind === 'done' ? 'certain' : 'none')
  if (outcome.kind === 'done') {
    demandOpen(booking, blocksBefore)
    return demandVacant(booking.token, takenBefore)
  }
  const { status, body } = outcome
  if (status === 404)
    return demand(isErased(booking.patient), () => `a move of ${booking.token} returned 404`)
  if (status === 422) return demandBlock(clinic, placement, start)
  demand(status === 409, () => `a move returned ${status} ${JSON.stringify(body)}`)
  if (body.error === 'APPOINTMENT_CLOSED')
    return demand(
      !booking.status.isUntouched,
      () => `${booking.token} is closed, although no request has closed it`,
    )
  demandRival(clinic, booking, placement, start)
}

const ACTIONS = [
  ['confirm', null],
  ['check-in', null],
  ['complete', 'completed'],
  ['no-show', 'no_show'],
  ['cancel', 'cancelled'],
] as const

export async function actOnAppointment(run: Run): Promise<void> {
  const { operation } = run
  const booking = pick(bookingsOf(run), operation.random[0])
  const [action, status] = pick(ACTIONS, operation.random[1]) ?? []
  if (!booking || !action) return
  const write = status ? booking.status.begin(status) : undefined
  const isFreeing = status === 'no_show' || status === 'cancelled'
  const outcome = await submit(run, `${action}-appointment`, { path: { id: booking.id }, body: {} })
  if (outcome.kind === 'unknown') return
  if (write) booking.status.settle(write, outcome.kind === 'done' ? 'certain' : 'none')
  if (outcome.kind === 'done') {
    if (isFreeing) booking.freedAt = Math.min(booking.freedAt, tick())
    return
  }
  if (outcome.status === 404)
    return demand(isErased(booking.patient), () => `${action} of ${booking.token} returned 404`)
  // Appointments are booked ahead.
  if (outcome.body.message === 'errors.developer_api.appointment_not_due') return
  demand(outcome.status === 409, () => `${action} returned ${outcome.status}`)
  demand(!booking.status.isUntouched, () => `${booking.token} is closed, although no request has closed it`)
}
