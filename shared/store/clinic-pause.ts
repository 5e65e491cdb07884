/** The pause of a clinic, as the operator begins and ends it. */
import type { Clinic, ClinicId } from '../domain/clinic.ts'
import { clinicStore } from './clinics.ts'
import { credentialStore } from './credentials.ts'
import type { Table } from './table/table.ts'
import { VISIBILITY_DELAY_MS } from './table/visibility-delay.ts'

/** Pauses a clinic, or ends its pause. Takes effect at the next request of each credential. @throws ClinicBeingDeleted */
export async function setPaused(table: Table, id: ClinicId, pausedAt: string | null): Promise<Clinic> {
  const clinics = clinicStore({ table })
  const credentials = credentialStore({ table, now: table.now })
  const isNew = pausedAt === null || (await clinics.find(id))?.pausedAt === undefined
  const clinic = await clinics.update(id, { pausedAt, ...(isNew && { pauseInEffectAt: null }) })
  const allowedWrites = (await credentials.list(id)).some(({ clinic: copy }) => copy.pausedAt === undefined)
  // The copies are refreshed even if the clinic did not change: an earlier run may have stopped before this line.
  await credentials.refreshClinic(clinic)
  if (pausedAt === null || (clinic.pauseInEffectAt !== undefined && !allowedWrites)) return clinic
  return clinics.update(id, { pauseInEffectAt: instant(table) })
}

/** Waits until the writes that began before the pause took effect are committed, which takes at most the visibility delay. */
export async function waitForPause(
  table: Table,
  { pauseInEffectAt }: Clinic,
  sleep: (ms: number) => Promise<unknown>,
): Promise<void> {
  const ms =
    pauseInEffectAt === undefined ? 0 : Date.parse(pauseInEffectAt) + VISIBILITY_DELAY_MS - table.now()
  if (ms > 0) await sleep(ms)
}

const instant = (table: Table): string => new Date(table.now()).toISOString()
