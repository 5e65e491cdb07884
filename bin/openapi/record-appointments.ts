import { addDays } from '../../shared/domain/clock.ts'
import type { ExampleRecorder } from './example-recorder.ts'
import type { Operator } from './operator.ts'
import type { Receiver } from './receiver.ts'

/** Days from today to the first day that is tried: far enough ahead for a demo doctor to have free time. */
const DAYS_AHEAD = 40

export async function recordAppointments(
  recorder: ExampleRecorder,
  { importRows }: Operator,
  receiver: Receiver,
): Promise<void> {
  const { sendRequest, recordSuccess, recordError } = recorder
  const doctors = await recordSuccess('list-doctors', '/doctors?limit=2')
  const doctor = doctors.body.data.find(({ is_active }: { is_active: boolean }) => is_active).id
  await recordSuccess('get-doctor', `/doctors/${doctor}`)
  const patients = (await sendRequest('GET', '/patients?limit=2')).body.data as { id: string }[]
  const patient = patients[0]?.id

  const [date, duration] = [await findFreeDay(recorder, doctor), 60]
  const query = `doctor_id=${doctor}&date=${date}&duration=${duration}`
  const { body } = await recordSuccess('get-availability', `/availability?${query}`)
  const [first, ...more] = body.data as { start_time: string }[]
  const booking = (start_time: string | undefined) => ({
    body: { patient_id: patient, doctor_id: doctor, appointment_date: date, start_time, duration },
  })
  const made = await recordSuccess('create-appointment', '/appointments', {
    body: { ...booking(first?.start_time).body, notes: 'First visit' },
  })
  await recordSuccess('get-appointment', `/appointments/${made.body.data.id}`)
  // Events of different records arrive in any order.
  await receiver.waitForAll(['appointment.created'])
  await recordError('slot_unavailable', 'POST', '/appointments', booking(first?.start_time))
  await recordError('outside_working_hours', 'POST', '/appointments', booking('03:00'))
  const past = { ...booking('10:00').body, appointment_date: '2026-01-05' }
  await recordError('appointment_in_past', 'POST', '/appointments', { body: past })
  const unknownDoctor = { ...booking('10:00').body, doctor_id: patient }
  await recordError('doctor_not_found', 'POST', '/appointments', { body: unknownDoctor })

  const others: string[] = []
  for (const slot of more.slice(0, 2))
    others.push((await sendRequest('POST', '/appointments', booking(slot.start_time))).body.data.id)
  await recordMoves(recorder, made.body.data.id, { patient_id: patient, doctor_id: doctor, date })
  await recordActions(recorder, made.body.data.id, others)
  const row = {
    external_id: 'openapi',
    patient_external_id: 'p1',
    doctor_external_id: 'd1',
    appointment_date: date,
    start_time: '12:00',
    end_time: '12:30',
  }
  await importRows('appointments', [row])
  await importRows('appointments', [{ ...row, notes: 'Brings the X-rays' }])
  await recordSuccess('list-appointments', `/appointments?doctor_id=${doctor}&limit=2`)
}

/** Records a move into a room, and the error for another booking of that room. */
async function recordMoves(
  recorder: ExampleRecorder,
  id: string,
  { date, ...booking }: { patient_id: string | undefined; doctor_id: string; date: string },
): Promise<void> {
  const { sendRequest, recordSuccess, recordError } = recorder
  const rooms = (await sendRequest('GET', '/clinic/rooms')).body.data as { id: string; is_active: boolean }[]
  const room_id = rooms.find(({ is_active }) => is_active)?.id
  const treatments = (await sendRequest('GET', '/clinic/treatments?limit=100')).body.data as Treatment[]
  const offered = treatments.find(
    ({ is_active, doctor_ids }) => is_active && doctor_ids.includes(booking.doctor_id),
  )
  const { start_time, other } = await findTimeOfTwo(recorder, booking.doctor_id, date)
  const changes = { start_time, room_id, treatment_ids: offered ? [offered.id] : [] }
  await recordSuccess('update-appointment', `/appointments/${id}`, { body: changes })
  const range = `date=${date}&date_to=${addDays(date, 30)}&room_id=${room_id}&limit=3`
  await recordSuccess(
    'get-availability',
    `/availability?treatment_id=${offered?.id}&${range}`,
    {},
    'treatment',
  )
  const request = {
    ...booking,
    doctor_id: other,
    appointment_date: date,
    start_time,
    duration: 30,
    room_id,
  }
  await recordError('room_unavailable', 'POST', '/appointments', { body: request })
}

/** A time at which a doctor is free for an hour, and another doctor for half an hour. */
async function findTimeOfTwo(
  { sendRequest }: ExampleRecorder,
  doctor: string,
  date: string,
): Promise<{ start_time: string; other: string }> {
  const freeTimes = async (id: string, duration: number): Promise<string[]> => {
    const query = `doctor_id=${id}&date=${date}&duration=${duration}`
    const slots = (await sendRequest('GET', `/availability?${query}`)).body.data as { start_time: string }[]
    return slots.map(({ start_time }) => start_time)
  }
  const times = await freeTimes(doctor, 60)
  const doctors = (await sendRequest('GET', '/doctors?limit=100')).body.data as { id: string }[]
  for (const { id: other } of doctors.filter(({ id }) => id !== doctor)) {
    const start_time = (await freeTimes(other, 30)).find((time) => times.includes(time))
    if (start_time !== undefined) return { start_time, other }
  }
  throw new Error(`No other doctor is free on ${date}.`)
}

type Treatment = { readonly id: string; readonly is_active: boolean; readonly doctor_ids: readonly string[] }

/** Records the actions on an appointment, and on two others that end in other ways. */
async function recordActions(
  { recordSuccess, recordError }: ExampleRecorder,
  id: string,
  [completed, missed]: readonly string[],
): Promise<void> {
  const act = (action: string, on = id, body: object = {}) =>
    recordSuccess(`${action}-appointment`, `/appointments/${on}/${action}`, { body })
  await act('confirm')
  await act('cancel', id, { reason: 'The patient is travelling' })
  await recordError('appointment_closed', 'POST', `/appointments/${id}/confirm`, { body: {} })
  await act('check-in', completed)
  await act('complete', completed)
  await act('no-show', missed)
}

async function findFreeDay({ sendRequest }: ExampleRecorder, doctor: string): Promise<string> {
  const today = new Date().toISOString().slice(0, 10)
  for (let days = DAYS_AHEAD; ; days++) {
    const date = addDays(today, days)
    const { body } = await sendRequest('GET', `/availability?doctor_id=${doctor}&date=${date}&duration=60`)
    if (body.data.length >= 4) return date
  }
}
