/** Operations of the operator on a clinic as a whole: settings, doctors, verification, workers, restarts. */
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { copiedNames } from '../../../shared/store/copies/copied-names.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import { retryOnConflict } from '../../../shared/store/table/retries.ts'
import { demand } from '../register.ts'
import { command, pick, type Run, read } from '../run.ts'

export async function changeSettings(run: Run): Promise<void> {
  const { clinic, operation } = run
  const isName = (operation.random[0] ?? 0) < 0.5
  const name = `Clinic ${clinic.index} ${operation.number}`
  const duration = 15 + 5 * Math.floor((operation.random[1] ?? 0) * 10)
  const write = isName ? clinic.name.begin(name) : clinic.duration.begin(duration)
  const settings = isName ? { name } : { appointmentMinutes: duration }
  const outcome = await command(run, async (table) => {
    const changed = await clinicStore({ table }).update(clinic.id as ClinicId, settings)
    await credentialStore({ table, now: Date.now }).refreshClinic(changed)
  })
  if (outcome.kind !== 'done') return
  if (isName) clinic.name.settle(write as never, 'certain')
  else clinic.duration.settle(write as never, 'certain')
}

export async function renameDoctor(run: Run): Promise<void> {
  const { clinic, operation } = run
  const doctor = pick(clinic.doctors, operation.random[0])
  if (!doctor) return
  const name = `Dr. d${operation.number}${clinic.suffix}`
  const write = doctor.name.begin(name)
  const outcome = await command(run, async (table) => {
    await retryOnConflict(async () => {
      const before = await doctorStore({ table }).find(clinic.id as ClinicId, doctor.id)
      if (before === null) throw new Error(`no doctor ${doctor.id}`)
      await doctorStore({ table }).save(clinic.id as ClinicId, [
        { before, after: { ...before, fullName: name } },
      ])
    })
    await copiedNames(table).refreshAll(clinic.id as ClinicId)
  })
  if (outcome.kind !== 'done') return
  doctor.name.settle(write, 'certain')
}

export async function listDoctors(run: Run): Promise<void> {
  const response = await read(run, 'list-doctors')
  if (!response) return
  const expected = run.clinic.doctors.map(({ id }) => id).sort()
  const ids = response.body.data.map(({ id }: { id: string }) => id).sort()
  demand(JSON.stringify(ids) === JSON.stringify(expected), () => `doctors ${ids} instead of ${expected}`)
}

export async function runWorkers(run: Run): Promise<void> {
  await run.world.runWorkers(run.operation.crash)
}

export async function restartFunctions(run: Run): Promise<void> {
  run.world.restart()
}

/** Positions of the log are consecutive, and no event is listed twice. */
export async function listEvents(run: Run): Promise<void> {
  const response = await read(run, 'list-events', { query: { limit: '100' } })
  if (!response) return
  const ids: string[] = response.body.data.map(({ id }: { id: string }) => id)
  demand(new Set(ids).size === ids.length, () => 'the events list has one twice')
  demand(
    response.body.data.every((one: { clinic_id: string }) => one.clinic_id === run.clinic.id),
    () => 'the events list has an event of another clinic',
  )
}
