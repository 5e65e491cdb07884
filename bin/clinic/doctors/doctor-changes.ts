/** Changes of one doctor. */
import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import type { Doctor } from '../../../shared/domain/booking/doctor.ts'
import { doctorStore, type StoredDoctor } from '../../../shared/store/doctors.ts'
import { retryOnConflict } from '../../../shared/store/table/retry-on-conflict.ts'
import {
  comingAppointments,
  describeAppointments,
  isInside,
} from '../appointments/appointments-outside-hours.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import { CommandFailure, print } from '../tool/output.ts'
import { doctorJson } from './doctor-text.ts'

/** The doctor with this id. @throws CommandFailure if there is none */
export async function requireDoctor({ table, clinic }: ClinicContext, id: string): Promise<StoredDoctor> {
  const doctor = await doctorStore({ table }).find(clinic.id, id.toLowerCase())
  if (!doctor)
    throw new CommandFailure(`The clinic has no doctor ${id}. Run "doctor list" to see all doctors.`)
  return doctor
}

/** Updates a doctor, again from a fresh read if another command has changed it. Lists the appointments that it leaves outside
 * working hours, or without an active doctor. */
export async function changeDoctor(
  id: string,
  given: { readonly clinic: string },
  command: Command,
  update: (doctor: Doctor, context: ClinicContext) => Doctor | Promise<Doctor>,
): Promise<void> {
  const context = await openClinic(given, command)
  const { before, after, isChanged } = await retryOnConflict(async () => {
    const before = await requireDoctor(context, id)
    const { version: _, ...doctor } = before
    const after = await update(doctor, context)
    const isChanged = !isDeepStrictEqual(after, doctor)
    if (isChanged) await doctorStore(context).save(context.clinic.id, [{ before, after }])
    return { before, after, isChanged }
  })
  const isDeactivated = before.isActive && !after.isActive
  const outside = isChanged
    ? await comingAppointments(
        context,
        { doctor: after.id },
        (appointment) =>
          isDeactivated ||
          (isInside(before, appointment, context.clinic) && !isInside(after, appointment, context.clinic)),
      )
    : []
  print(command, { ...doctorJson(after), changed: isChanged, visits_outside: outside }, [
    isChanged
      ? `Changed doctor ${after.fullName}`
      : `Nothing changed: doctor ${after.fullName} has these values already`,
    ...describeAppointments(context, outside, isDeactivated ? 'without an active doctor' : undefined),
  ])
}
