import type { AppointmentStatus } from '../../shared/domain/appointment.ts'
import type { Random } from './random.ts'

const NOTES: Record<AppointmentStatus, [string, ...string[]]> = {
  scheduled: ['First visit', 'Asks for an early call if a slot opens', 'Brings previous reports'],
  completed: [
    'Follow-up in two weeks',
    'Results discussed, no further visit needed',
    'Prescription renewed for three months',
    'Referred for imaging',
  ],
  cancelled: ['Cancelled by phone', 'Travelling, will call again'],
  no_show: ['Did not come, did not answer the phone'],
}

const SHARE_WITH_NOTES = 0.15

export const pickNote = (random: Random, status: AppointmentStatus): string | null =>
  random.chance(SHARE_WITH_NOTES) ? random.pick(NOTES[status]) : null

const LONG_NOTE = [
  'Reason for the visit: tiredness for about three months, worse in the afternoon, with headaches once or twice a week. Sleeps six hours, two coffees a day, no new medicines.',
  'Findings: blood pressure 128/82, pulse 74, temperature 36.6 °C. Heart and lungs without findings. No swelling of the neck. Weight unchanged since last year.',
  'Discussed: blood count, iron and thyroid values to be taken this week, fasting. A diary of the headaches with time, meals and screen hours until the next visit. Written advice on sleep was handed over.',
  'Plan: results by phone within five working days; next visit in four weeks, earlier if there is fever, a change of vision or a headache that comes on suddenly. The patient has read the plan, has no questions, and agrees to a message with the date of the next visit.',
].join('\n\n')

type WithNotes = { readonly row: { readonly status: AppointmentStatus; readonly notes: string | null } }

/** Two completed visits have a note too long for a list row. */
export function withLongNotes<V extends WithNotes>(visits: readonly V[]): V[] {
  const completed = visits.filter(({ row }) => row.status === 'completed')
  const chosen = [1, 2].map((third) => completed[Math.floor((third * completed.length) / 3)])
  return visits.map((visit) =>
    chosen.includes(visit) ? { ...visit, row: { ...visit.row, notes: LONG_NOTE } } : visit,
  )
}
