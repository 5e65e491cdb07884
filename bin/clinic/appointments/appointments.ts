import type { Command } from 'commander'
import { renderAppointment } from '../../../shared/api/appointments.ts'
import { longText, oneOf } from '../../../shared/api/schemas.ts'
import {
  APPOINTMENT_STATUSES,
  type Appointment,
  type AppointmentStatus,
} from '../../../shared/domain/booking/appointment.ts'
import { applyAction, closeAs } from '../../../shared/domain/booking/appointment-actions.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { patientKey } from '../../../shared/store/keys/patients.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import type { Changeset } from '../../../shared/store/table/changeset.ts'
import { changeRecord, unknownRecord } from '../records/change-record.ts'
import { addLinkCommands } from '../records/record-links.ts'
import { addYesOption, commitConfirmed, type Warn } from '../tool/confirmation.ts'
import { openClinic } from '../tool/connection.ts'
import { CommandFailure, parseArgument, parseOption, print } from '../tool/output.ts'
import { addMoveCommand, addReopenCommand } from './appointment-moves.ts'

export function addAppointmentCommands(program: Command): void {
  const group = program
    .command('appointment')
    .description("list, show, find, change, move, cancel, reopen and link a clinic's appointments")

  const setting = group
    .command('set-status')
    .description('set the status of a scheduled appointment; cancelled and no_show free its time')
    .argument('<appointment>', 'appointment id')
    .argument('<status>', APPOINTMENT_STATUSES.join(', '))
    .requiredOption('--clinic <id>')
    .action((id: string, requested: string, { clinic }: { clinic: string }, command: Command) =>
      setStatus(id, parseArgument('status', oneOf(APPOINTMENT_STATUSES), requested), clinic, command),
    )

  addYesOption(setting)

  group
    .command('cancel')
    .description('cancel a scheduled appointment and free its time')
    .argument('<appointment>', 'appointment id')
    .requiredOption('--clinic <id>')
    .option('--reason <text>', 'why it is cancelled')
    .action((id: string, { clinic, reason }: { clinic: string; reason?: string }, command: Command) =>
      setStatus(id, 'cancelled', clinic, command, parseOption('reason', longText(500).nullish(), reason)),
    )

  addMoveCommand(group)
  addReopenCommand(group)
  addLinkCommands(group, 'appointment')
}

async function setStatus(
  id: string,
  status: AppointmentStatus,
  clinicId: string,
  command: Command,
  reason: string | null = null,
): Promise<void> {
  const { table, clinic } = await openClinic({ clinic: clinicId }, command)
  const list = appointmentStore({ table })
  const at = new Date(table.now()).toISOString()
  const patients = patientStore({ table })
  let isChanged = false
  let warn: Warn = () => {}
  const update = async (before: Appointment, changes: Changeset) => {
    const patient = (await patients.findMany(clinic.id, [before.patient.id])).get(before.patient.id)
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
    commitConfirmed(command, (report) => {
      warn = report
      return build()
    }),
  )
  if (!appointment) throw unknownRecord('appointment', 'appointment', id)
  print(command, renderAppointment(appointment, clinic), [
    isChanged ? `Appointment ${id} is ${status}` : `Nothing changed: appointment ${id} is ${status} already`,
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
