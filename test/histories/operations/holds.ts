/** Operations on holds, some by functions whose clocks are at the edge of an expiry. */
import { type HoldModel, identified, isErased } from '../model.ts'
import { demand, tick } from '../register.ts'
import { pick, type Run, read, submit } from '../run.ts'
import {
  demandRival,
  demandVacant,
  drawEdge,
  drawPlacement,
  mayCancel,
  mayRemoveExpired,
  newBooking,
  occupants,
  placementFields,
} from './calendar.ts'
import { blocksOf, demandBlock, demandOpen } from './schedule.ts'

export async function holdTime(run: Run): Promise<void> {
  const { clinic, operation } = run
  const { ahead, placement: edge } = drawEdge(run)
  const placement = edge ?? drawPlacement(clinic, operation.random)
  if (!placement) return
  const hold: HoldModel = {
    token: `h${operation.number}${clinic.suffix}`,
    placement,
    start: tick(),
    id: null,
    existence: 'possible',
    expiresAt: Number.POSITIVE_INFINITY,
    endings: 0,
    endedBy: Number.POSITIVE_INFINITY,
  }
  const expires_in = 60 + 300 * (operation.number % 5)
  mayRemoveExpired(clinic, placement, ahead)
  const clock = Date.now() + ahead
  const takenBefore = occupants(clinic, placement, hold.start)
  const blocksBefore = blocksOf(clinic, placement)
  clinic.holds.push(hold)
  const outcome = await submit(run, 'create-hold', {
    body: { ...placementFields(placement), expires_in },
    ahead,
  })
  if (outcome.kind === 'unknown') return
  if (outcome.kind === 'done') {
    const { id, expires_at } = outcome.body.data
    Object.assign(hold, { id, expiresAt: Date.parse(expires_at), existence: 'certain' })
    demandVacant(hold.token, takenBefore, ahead)
    return demandOpen(hold, blocksBefore)
  }
  hold.existence = 'none'
  if (outcome.status === 422) return demandBlock(clinic, placement, hold.start)
  demand(outcome.status === 409, () => `a hold returned ${JSON.stringify(outcome)}`)
  demandRival(clinic, hold, placement, hold.start, clock)
}

/** Books a hold. It gets its time, unless its clock or another request says that it is over. */
export async function bookHold(run: Run): Promise<void> {
  const { clinic, operation } = run
  const patient = pick(identified(clinic.patients), operation.random[0])
  const hold = pick(identified(clinic.holds), operation.random[1])
  if (!patient || !hold) return
  const { placement } = hold
  const ahead = operation.number % 4 === 0 ? hold.expiresAt - Date.now() - 300 + operation.number * 10 : 0
  const booking = newBooking(run, patient, placement)
  mayRemoveExpired(clinic, placement, ahead, hold)
  hold.endings++
  const takenBefore = occupants(clinic, placement, booking.start, hold)
  const blocksBefore = blocksOf(clinic, placement)
  clinic.bookings.push(booking)
  if (isErased(patient)) mayCancel(booking)
  const body = { patient_id: patient.id, hold_id: hold.id, notes: booking.token }
  const outcome = await submit(run, 'create-appointment', { body, ahead })
  if (outcome.kind === 'unknown') return
  if (outcome.kind === 'done') {
    Object.assign(booking, { id: outcome.body.data.id, existence: 'certain' })
    hold.endedBy = Math.min(hold.endedBy, tick())
    demandVacant(booking.token, takenBefore, ahead)
    return demandOpen(booking, blocksBefore)
  }
  booking.existence = 'none'
  hold.endings--
  const { status, body: error } = outcome
  if (status === 422) return demandBlock(clinic, placement, booking.start)
  if (error.message === 'errors.developer_api.patient_not_found')
    return demand(isErased(patient), () => `a booking of ${hold.token} did not find its patient`)
  demand(
    /hold_(expired|not_found)$/.test(error.message),
    () => `a booking of ${hold.token} returned ${JSON.stringify(outcome)}`,
  )
  const isOver = hold.endings > 0 || hold.expiresAt <= Date.now() + ahead
  demand(isOver, () => `${hold.token} was over before its expiry`)
}

const WITHOUT_KEY = { keyed: false, doubled: false } as const

export async function deleteHold(run: Run): Promise<void> {
  const hold = pick(identified(run.clinic.holds), run.operation.random[0])
  if (!hold) return
  hold.endings++
  const once = { ...run, operation: { ...run.operation, ...WITHOUT_KEY } }
  const outcome = await submit(once, 'delete-hold', { path: { id: hold.id } })
  if (outcome.kind === 'unknown') return
  demand(
    outcome.kind === 'done' || (outcome.status === 404 && hold.endings > 1),
    () => `${hold.token} could not be deleted: ${JSON.stringify(outcome)}`,
  )
  hold.endedBy = Math.min(hold.endedBy, tick())
}

export async function readHold(run: Run): Promise<void> {
  const hold = pick(identified(run.clinic.holds), run.operation.random[0])
  if (!hold) return
  const ahead = run.operation.number % 2 === 0 ? hold.expiresAt - Date.now() : 0
  const response = await read(run, 'get-hold', { path: { id: hold.id }, ahead })
  if (!response) return
  const isFound = response.status === 200
  demand(!isFound || ahead === 0, () => `${hold.token} was found`)
  const isOver = ahead > 0 || hold.endings > 0 || hold.expiresAt <= Date.now()
  demand(isFound || isOver, () => `${hold.token} was not found`)
}
