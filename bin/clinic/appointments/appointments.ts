import type { Command } from 'commander'
import { appointmentFilter, listAppointments, renderAppointment } from '../../../shared/api/appointments.ts'
import type { Appointment, AppointmentStatus } from '../../../shared/domain/booking/appointment.ts'
import { applyAction, closeAs } from '../../../shared/domain/booking/appointment-actions.ts'
import { cancellationReason } from '../../../shared/domain/patients/text-fields.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import { appointmentListStore, appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { patientKey } from '../../../shared/store/keys/patients.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import type { Changeset } from '../../../shared/store/table/changeset.ts'
import { changeRecord, unknownRecord } from '../records/change-record.ts'
import { addLinkCommands } from '../records/record-links.ts'
import { recordsOfPatients } from '../records/records-of-patients.ts'
import { addResourceCommands, type ResourceCommands } from '../records/resource-commands.ts'
import { addYesOption, commitConfirmed, type Warn } from '../tool/confirmation.ts'
import { openClinic } from '../tool/connection.ts'
import { CommandFailure, changeLine, parseOption, print } from '../tool/output.ts'
import { addMoveCommand, addReopenCommand } from './appointment-moves.ts'
import {
  APPOINTMENT_LINES,
  appointmentsOutsideHours,
  type ListedAppointment,
  outsideHoursLines,
} from './appointments-outside-hours.ts'

const reading = recordsOfPatients(
  'appointment',
  appointmentListStore,
  { query: listAppointments.query, filterOf: appointmentFilter },
  renderAppointment,
)

const appointments: ResourceCommands<ListedAppointment> = {
  ...reading,
  ...APPOINTMENT_LINES,
  list: {
    ...reading.list,
    part: {
      option: 'outside',
      description:
        'upcoming scheduled appointments outside the working hours of their doctor, earliest first; without the other filters',
      read: async (context) => {
        const data = await appointmentsOutsideHours(context)
        return { data, lines: outsideHoursLines(context, data) }
      },
    },
  },
}

/** The commands that end a scheduled appointment, and what they do. */
const OUTCOMES = {
  complete: ['completed', 'record that a scheduled appointment took place'],
  'no-show': ['no_show', 'record that the patient did not come, and free the rest of the time'],
  cancel: ['cancelled', 'cancel a scheduled appointment and free its time'],
} as const

export function addAppointmentCommands(group: Command): void {
  addResourceCommands(group, appointments)
  for (const [name, [status, description]] of Object.entries(OUTCOMES)) {
    const command = group.command(name).description(description).argument('<appointment>', 'appointment id')
    if (status === 'cancelled') command.option('--reason <text>', 'why it is cancelled')
    if (status === 'completed') addYesOption(command)
    command.action((id: string, { reason }: { reason?: string }, self: Command) =>
      setStatus(id, status, self, parseOption('reason', cancellationReason().nullish(), reason)),
    )
  }
  addMoveCommand(group)
  addReopenCommand(group)
  addLinkCommands(group, 'appointment')
}

async function setStatus(
  id: string,
  status: AppointmentStatus,
  command: Command,
  reason: string | null = null,
): Promise<void> {
  const { table, clinic } = await openClinic(command)
  const list = appointmentStore({ table })
  const at = new Date(table.now()).toISOString()
  const patients = patientStore({ table })
  let isChanged = false
  const update = async (before: Appointment, changes: Changeset, warn: Warn) => {
    const patient = await patients.find(clinic.id, before.patient.id)
    if (patient?.erasedAt && reason !== null)
      throw new CommandFailure('The patient was erased: cancel the appointment without --reason.')
    // A concurrent erasure would not find the reason.
    if (patient) changes.requireVersion(patientKey(clinic.id, patient.id), patient.version)
    const verdict = closeAs(before, status, { at, reason })
    if (verdict.kind === 'closed')
      throw new CommandFailure(
        before.status === 'cancelled'
          ? 'The appointment is cancelled, which is final.'
          : `The appointment is ${before.status}. Use "appointment reopen" first.`,
      )
    isChanged = verdict.appointment !== before
    const due = isChanged ? dueBy(before, status, at, clinic.timezone) : null
    if (due !== null) {
      const consequence = `The appointment can be ${status} from ${due} on: it has not taken place yet.`
      // A missed appointment frees its time, which another patient could book.
      if (status === 'no_show') throw new CommandFailure(consequence)
      warn(consequence)
    }
    return verdict.appointment
  }
  const appointment = await changeRecord(table, list, clinic.id, id, update, (build) =>
    commitConfirmed(command, build),
  )
  if (!appointment) throw unknownRecord('appointment', id)
  print(command, renderAppointment(appointment, clinic), [
    changeLine(isChanged, `Appointment ${id} is ${status}`, `appointment ${id} is ${status} already`),
  ])
}

/** When an appointment can get a status through the API, if that is later than `at`. */
function dueBy(
  appointment: Appointment,
  status: AppointmentStatus,
  at: string,
  timezone: string,
): string | null {
  if (status !== 'completed' && status !== 'no_show') return null
  const kind = status === 'completed' ? 'complete' : 'no_show'
  const verdict = applyAction(appointment, { kind }, { at, timezone })
  return verdict.kind === 'not_due' ? clinicTimestamp(verdict.from, timezone) : null
}
