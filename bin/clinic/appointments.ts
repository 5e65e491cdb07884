import type { Command } from 'commander'
import { renderAppointment } from '../../shared/api/appointments.ts'
import { oneOf } from '../../shared/api/schemas.ts'
import { APPOINTMENT_STATUSES, mayBecome } from '../../shared/domain/appointment.ts'
import { appointmentStore } from '../../shared/store/appointments.ts'
import { connect, requireClinic } from './connection.ts'
import { CommandFailure, option, print } from './output.ts'
import { changeRecord } from './record.ts'

export function addAppointmentCommands(program: Command): void {
  const group = program.command('appointment').description("change a clinic's appointments")

  group
    .command('set-status')
    .description(
      'complete, cancel or miss a scheduled appointment; cancelled and missed ones free their time',
    )
    .argument('<appointment>', 'its id')
    .argument('<status>', APPOINTMENT_STATUSES.join(', '))
    .requiredOption('--clinic <id>')
    .action(
      async (id: string, wanted: string, { clinic: clinicId }: { clinic: string }, command: Command) => {
        const status = option('status', oneOf(APPOINTMENT_STATUSES), wanted)
        const table = await connect(command)
        const clinic = await requireClinic(table, clinicId)
        const appointment = await changeRecord(
          table,
          appointmentStore({ table }),
          clinic.id,
          id,
          async (before) => {
            if (before.status !== status && !mayBecome(before.status, status)) {
              throw new CommandFailure(`The appointment is ${before.status}, which is final.`)
            }
            return { ...before, status }
          },
        )
        if (!appointment) throw new CommandFailure(`The clinic has no appointment ${id}.`)
        print(command, renderAppointment(appointment, clinic), [`Appointment ${id} is ${status}`])
      },
    )
}
