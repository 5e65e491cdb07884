/** The log of events when a history has ended: one event for each change, in the order of the changes of each record. */
import type { ClinicModel } from '../model.ts'
import { demand } from '../register.ts'
import type { World } from '../world.ts'
import { readCursorList } from './read-lists.ts'

export type StoredEvent = {
  readonly id: string
  readonly event: string
  readonly sequence: number
  readonly data: Record<string, string>
  /** When the operation that created its record began; 0 if that is not known. */
  readonly createdAfter: number
}

export async function checkEvents(world: World, clinic: ClinicModel): Promise<StoredEvent[]> {
  const listed = await readCursorList(world, clinic, 'list-events')
  demand(new Set(listed.map(({ id }) => id)).size === listed.length, () => 'the log has an event twice')
  const starts = new Map([...clinic.bookings].map(({ id, start }) => [id, start]))
  const events: StoredEvent[] = listed.map((event) => ({
    ...event,
    createdAfter: starts.get(event.data.id) ?? 0,
  }))
  // An event of the clinic has no record, and the sequence 1.
  const byRecord = Map.groupBy(events, ({ data, id }) => data.id ?? id)
  for (const [record, ofRecord] of byRecord) {
    const sequences = ofRecord.map(({ sequence }) => sequence)
    const expected = sequences.map((_, index) => index + 1)
    demand(
      JSON.stringify(sequences) === JSON.stringify(expected),
      () => `events of ${record} are numbered ${sequences}`,
    )
    for (const name of [
      'patient.created',
      'patient.erased',
      'appointment.created',
      'sms.sent',
      'email.sent',
    ]) {
      const times = ofRecord.filter(({ event }) => event === name).length
      demand(times <= 1, () => `${record} has ${times} events ${name}`)
    }
  }
  for (const patient of clinic.patients) {
    if (patient.id === null || patient.isFirst) continue
    const names = byRecord.get(patient.id)?.map(({ event }) => event) ?? []
    demand(names[0] === 'patient.created', () => `events of patient ${patient.token}: ${names}`)
    const isAnnounced = names.includes('patient.erased')
    demand(
      isAnnounced ? patient.erasure !== 'none' : patient.erasure !== 'certain',
      () => `events of patient ${patient.token} with the erasure ${patient.erasure}: ${names}`,
    )
    const updates = names.length - 1
    const erasures = patient.erasure === 'none' ? 0 : 1
    const min = patient.lastName.written('certain').length + (patient.erasure === 'certain' ? 1 : 0)
    const max =
      patient.lastName.written('certain').length + patient.lastName.written('possible').length + erasures
    demand(
      updates >= min && updates <= max,
      () => `${patient.token} has ${updates} updates, not ${min} to ${max}`,
    )
  }
  for (const booking of clinic.bookings) {
    if (booking.id === null) continue
    const names = byRecord.get(booking.id)?.map(({ event }) => event) ?? []
    demand(names[0] === 'appointment.created', () => `events of appointment ${booking.token}: ${names}`)
    const ends = names.filter((name) => /cancelled|completed|no_show/.test(name)).length
    demand(ends <= 1, () => `${booking.token} ended ${ends} times`)
    if (booking.status.written('certain').length > 0)
      demand(ends === 1, () => `${booking.token} has no event of its end`)
  }
  return events
}
