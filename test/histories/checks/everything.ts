/** Everything that must hold when a history has ended. */

import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { verifyClinic } from '../../../shared/maintenance/verify/verify-clinic.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { patientChanges } from '../../../shared/store/copies/patient-changes.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import type { ClinicModel } from '../model.ts'
import { demand } from '../register.ts'
import type { World } from '../world.ts'
import { checkEvents } from './events.ts'
import { checkMessages } from './messages.ts'
import { checkAppointments, checkErasure, checkInvoices, checkPatients } from './records.ts'
import { checkWebhooks } from './webhooks.ts'

/** @throws Violation */
export async function checkEverything(world: World, clinics: readonly ClinicModel[]): Promise<void> {
  for (const clinic of clinics) await completeCommands(world, clinic)
  await world.settle()
  for (const clinic of clinics) {
    await checkSettings(world, clinic)
    await checkPatients(world, clinic)
    await checkAppointments(world, clinic)
    await checkInvoices(world, clinic)
    await checkMessages(world, clinic)
    await checkWebhooks(world, clinic, await checkEvents(world, clinic))
    await checkDerivedData(world, clinic)
  }
  await checkErasure(world, clinics)
}

/** Completes interrupted commands as an operator does: erasures and changes of settings are repeated. */
async function completeCommands(world: World, clinic: ClinicModel): Promise<void> {
  const id = clinic.id as ClinicId
  const complete = async () => {
    for (const patient of clinic.patients) {
      if (patient.erasure !== 'possible' || patient.id === null) continue
      await patientChanges(world.table).erase(id, patient.id)
      patient.erasure = 'certain'
    }
    const current = await clinicStore(world).find(id)
    if (current) await credentialStore({ ...world, now: Date.now }).refreshClinic(current)
  }
  await complete()
}

async function checkSettings(world: World, clinic: ClinicModel): Promise<void> {
  const stored = await clinicStore(world).find(clinic.id as ClinicId)
  const names = clinic.name.possible()
  demand(names.includes(stored?.name ?? ''), () => `the clinic is called ${stored?.name}, not ${names}`)
  const durations = clinic.duration.possible()
  const duration = stored?.appointmentMinutes ?? 0
  demand(durations.includes(duration), () => `appointments take ${duration} minutes, not ${durations}`)
}

async function checkDerivedData(world: World, clinic: ClinicModel): Promise<void> {
  const found: string[] = []
  await verifyClinic(world.table, clinic.id as ClinicId, {
    repair: false,
    pauseMs: 1,
    gracePeriodMs: 0,
    onDifference: ({ kind, key, note }) => found.push(`${kind} ${key.pk} ${key.sk} ${note ?? ''}`),
  })
  demand(found.length === 0, () => `verify found ${found.join('; ')}`)
}
