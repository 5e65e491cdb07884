import type { Command } from 'commander'
import { renderAppointment } from '../../../shared/api/appointments.ts'
import { rejectionError, renderAlternative, updateAppointment } from '../../../shared/api/bookings.ts'
import { errorEntry } from '../../../shared/api/error-catalogue.ts'
import type { FieldIssue } from '../../../shared/api/errors.ts'
import { absenceOn } from '../../../shared/domain/booking/absence.ts'
import type { Appointment } from '../../../shared/domain/booking/appointment.ts'
import { targetOf } from '../../../shared/domain/booking/change-appointment.ts'
import { formatTimeOff } from '../../../shared/domain/booking/doctor-days.ts'
import type { Placement } from '../../../shared/domain/booking/placement.ts'
import type { Clinic, ClinicId } from '../../../shared/domain/clinic.ts'
import { wallClock } from '../../../shared/domain/clock.ts'
import {
  appointmentChangeStore,
  type ChangeOutcome,
} from '../../../shared/store/calendar/appointment-changes.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { isTaken } from '../../../shared/store/calendar/booking.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import { UNREQUESTED } from '../../../shared/store/table/idempotency.ts'
import { requireRecord } from '../records/change-record.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import { requireChange } from '../tool/fields.ts'
import { CommandFailure, changeLine, EXIT, idOrNone, print } from '../tool/output.ts'

type Options = {
  readonly date?: string
  readonly time?: string
  readonly duration?: string
  readonly doctor?: string
  readonly room?: string
}

/** The option of each field of `PATCH /appointments/{id}` that a move sets. */
const OPTIONS: Readonly<Record<string, keyof Options>> = {
  appointment_date: 'date',
  start_time: 'time',
  duration: 'duration',
  doctor_id: 'doctor',
  room_id: 'room',
}

export function addMoveCommand(group: Command): void {
  group
    .command('move')
    .description('move a scheduled appointment, under the rules of a booking')
    .argument('<appointment>', 'appointment id')
    .option('--date <date>', "YYYY-MM-DD, in the clinic's time zone")
    .option('--time <time>', 'when it starts, HH:MM')
    .option('--duration <minutes>', 'its length (default: as before)')
    .option('--doctor <id>', 'another doctor')
    .option('--room <id>', 'another room; "" for none')
    .action((id: string, given: Options, command: Command) => {
      const changes = changesOf(given)
      return change(id, command, (store, clinic, request) => store.change(clinic, { ...request, changes }), {
        changes,
        describe: ({ date, startTime, endTime, doctor }, { timezone }) => {
          const where = `${date} ${startTime}-${endTime} (${timezone}) with ${doctor.fullName}`
          return [`Moved appointment ${id} to ${where}`, `appointment ${id} is on ${where}`]
        },
      })
    })
}

export function addReopenCommand(group: Command): void {
  group
    .command('reopen')
    .description('make a completed or missed appointment a scheduled one, if its time is free')
    .argument('<appointment>', 'appointment id')
    .action((id: string, _: object, command: Command) =>
      change(id, command, (store, clinic, request) => store.reopen(clinic, request), {
        describe: () => [`Appointment ${id} is scheduled again`, `appointment ${id} is scheduled already`],
      }),
    )
}

type ChangeStore = ReturnType<typeof appointmentChangeStore>

/** Changes an appointment under the rules of a booking, and prints it. @throws CommandFailure when the change is rejected */
async function change(
  id: string,
  command: Command,
  apply: (
    store: ChangeStore,
    clinic: ClinicId,
    request: ReturnType<typeof requestOf>,
  ) => Promise<ChangeOutcome>,
  {
    changes = {},
    describe,
  }: {
    readonly changes?: Partial<ReturnType<typeof changesOf>>
    readonly describe: (after: Appointment, clinic: Clinic) => readonly [done: string, already: string]
  },
): Promise<void> {
  const context = await openClinic(command)
  const { table, clinic } = context
  const { record: before } = await requireRecord('appointment', id, (known) =>
    appointmentStore({ table }).find(clinic.id, known),
  )
  const outcome = await apply(appointmentChangeStore({ table }), clinic.id, requestOf(context, before.id))
  if (outcome.kind === 'outside_hours') throw await outsideHours(context, targetOf(before, changes))
  if (outcome.kind === 'closed' && before.status === 'cancelled')
    throw new CommandFailure('The appointment is cancelled, which is final.')
  if (outcome.kind !== 'done') throw rejection(id, outcome, clinic)
  const { appointment } = outcome
  const [done, already] = describe(appointment, clinic)
  print(command, renderAppointment(appointment, clinic), [
    changeLine(appointment.updatedAt !== before.updatedAt, done, already),
  ])
}

/** The parts of a change that do not depend on what changes. */
const requestOf = ({ clinic: { timezone } }: ClinicContext, id: string) => ({
  id,
  moment: { timezone, clock: wallClock(Date.now(), timezone) },
  write: UNREQUESTED,
})

function changesOf(given: Options) {
  requireChange(given)
  const { date, time, duration, doctor, room } = given
  const { data, error } = updateAppointment.body.safeParse({
    appointment_date: date,
    start_time: time,
    duration: duration !== undefined && /^\d+$/.test(duration) ? Number(duration) : duration,
    doctor_id: doctor,
    room_id: room === undefined ? undefined : idOrNone(room),
  })
  if (error)
    throw invalidFields(error.issues.map(({ path, message }) => ({ field: String(path[0]), issue: message })))
  return {
    date: data.appointment_date,
    startTime: data.start_time,
    minutes: data.duration,
    doctor: data.doctor_id,
    room: data.room_id,
  }
}

const invalidFields = (issues: readonly FieldIssue[]): CommandFailure =>
  new CommandFailure(
    issues
      .map(({ field, issue }) =>
        OPTIONS[field] ? `--${OPTIONS[field]} ${issue}` : `The appointment's ${field} ${issue}`,
      )
      .join('\n'),
  )

/** The rejection of a time at which the doctor does not work: what keeps the doctor away that day, or else the hours. */
async function outsideHours(
  { table, clinic }: ClinicContext,
  { doctor: id, date }: Placement,
): Promise<CommandFailure> {
  const doctor = await doctorStore({ table }).find(clinic.id, id)
  const absence = doctor && absenceOn(doctor, date)
  if (!absence) return new CommandFailure(errorEntry('outside_working_hours').text)
  if (absence.kind === 'inactive')
    return new CommandFailure(
      `${doctor.fullName} is inactive. Choose another doctor, or use "doctor update --active".`,
    )
  const days = formatTimeOff([absence.days])
  return new CommandFailure(
    absence.kind === 'holiday'
      ? `The clinic is closed on ${date}: ${days} is a holiday. Choose another date.`
      : `${doctor.fullName} is off on ${date}: ${days} is time off. Choose another date or doctor.`,
  )
}

/** The error for a move that was not made, with what the operator can do. */
function rejection(
  id: string,
  outcome: Exclude<ChangeOutcome, { kind: 'done' | 'outside_hours' }>,
  { timezone }: Clinic,
): CommandFailure {
  if (outcome.kind === 'not_found')
    return new CommandFailure(
      `The clinic has no appointment ${id}, or its patient was erased. "appointment list" lists all appointments.`,
    )
  if (outcome.kind === 'closed') return new CommandFailure(errorEntry('appointment_closed').text)
  if (outcome.kind === 'doctor_not_found')
    return new CommandFailure(
      'The clinic has no doctor with the id in --doctor. "doctor list" lists all doctors.',
    )
  if (isTaken(outcome)) {
    const alternatives = outcome.alternatives.map(renderAlternative)
    const times = alternatives.map(
      ({ appointment_date, start_time, end_time }) => `  ${appointment_date} ${start_time}-${end_time}`,
    )
    const owner = outcome.kind === 'taken' ? 'doctor' : 'room'
    const next =
      times.length > 0 ? `The next free times, in ${timezone}:` : 'No time is free in the two weeks after it.'
    const message = [`The time of the ${owner} is taken. ${next}`, ...times].join('\n')
    return new CommandFailure(message, EXIT.wrongInput, { alternatives })
  }
  if (outcome.kind === 'room_not_found')
    return new CommandFailure('The clinic has no room with the id in --room. "room list" lists all rooms.')
  const { key, details } = rejectionError(outcome)
  return outcome.kind === 'invalid'
    ? invalidFields(details as readonly FieldIssue[])
    : new CommandFailure(errorEntry(key).text)
}
