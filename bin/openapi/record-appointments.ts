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
  await recordRooms(recorder, made.body.data.id, { patient_id: patient, from: date })
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

type Entry = { readonly id: string; readonly is_active: boolean; readonly doctor_ids: readonly string[] }
type Slot = { readonly date: string; readonly start_time: string; readonly doctor: { readonly id: string } }

/** Records a change of an appointment, free slots of a treatment, and the error for a room that another doctor uses. */
async function recordRooms(
  { sendRequest, recordSuccess, recordError }: ExampleRecorder,
  id: string,
  { patient_id, from }: { patient_id: string | undefined; from: string },
): Promise<void> {
  const activeOf = async (path: string): Promise<Entry[]> =>
    (await sendRequest('GET', `${path}?limit=100`)).body.data.filter(({ is_active }: Entry) => is_active)
  const [room] = await activeOf('/clinic/rooms')
  const treatments = await activeOf('/clinic/treatments')
  const room_id = room?.id
  await recordSuccess('update-appointment', `/appointments/${id}`, { body: { room_id, notes: 'Fasting' } })
  const slotsOf = (treatment: string | undefined, limit: number) =>
    `/availability?treatment_id=${treatment}&room_id=${room_id}&date=${from}&date_to=${addDays(from, 30)}&limit=${limit}`
  await recordSuccess('get-availability', slotsOf(treatments[0]?.id, 3), {}, 'treatment')
  const unknownRoom = `treatment_id=${treatments[0]?.id}&room_id=${id}&date=${from}`
  await recordError('room_not_found', 'GET', `/availability?${unknownRoom}`)
  const slots: Slot[] = []
  for (const treatment of treatments)
    slots.push(...(await sendRequest('GET', slotsOf(treatment.id, 100))).body.data)
  const [one, other] = slotsAtSameTime(slots)
  const booking = ({ date, start_time, doctor }: Slot) => ({
    body: { patient_id, doctor_id: doctor.id, appointment_date: date, start_time, room_id },
  })
  await sendRequest('POST', '/appointments', booking(one))
  await recordError('room_unavailable', 'POST', '/appointments', booking(other))
}

/** Slots of two doctors. */
function slotsAtSameTime(slots: readonly Slot[]): [Slot, Slot] {
  for (const one of slots) {
    const other = slots.find(
      ({ date, start_time, doctor }) =>
        date === one.date && start_time === one.start_time && doctor.id !== one.doctor.id,
    )
    if (other) return [one, other]
  }
  throw new Error('No two doctors are free at the same time.')
}

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
