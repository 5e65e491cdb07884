/** Removes records that were created after the time to which a clinic is restored. Nothing else removes records. */
import type { ClinicId } from '../../../domain/clinic.ts'
import { calendarList } from '../../../store/calendar/calendar-list.ts'
import type { CatalogueStore } from '../../../store/catalogue.ts'
import { addToCount } from '../../../store/catalogue-count.ts'
import { emptyResponses } from '../../../store/copies/anonymize.ts'
import { doctorStore } from '../../../store/doctors.ts'
import { externalIds } from '../../../store/external-ids/links.ts'
import {
  calendarListPartition,
  doctorDayPartition,
  ENTITY_CODES,
  ownerPartition,
  tallyPartition,
} from '../../../store/keys/calendar.ts'
import { doctorKey, doctorsPartition } from '../../../store/keys/clinics.ts'
import { patientRemoval } from '../../../store/patients/patient-removal.ts'
import { patientStore } from '../../../store/patients/patients.ts'
import { Changeset } from '../../../store/table/changeset.ts'
import { commitPacked, commitWithRetry, type Unit } from '../../../store/table/commit-packed.ts'
import { retryOnConflict } from '../../../store/table/retries.ts'
import type { Table } from '../../../store/table/table.ts'
import { type AnyRecord, type ListName, VERIFIED_LISTS } from '../../verify/calendar/verified-lists.ts'
import { partitionPages } from '../../walk/partition-pages.ts'

/** A record that stays refers to one that was to be removed. */
export class StillInUse extends Error {}

export function recordRemoval(table: Table, clinic: ClinicId) {
  const external = externalIds({ table })

  /** Removes appointments, payments or invoices. */
  async function removeRecords(name: ListName, ids: readonly string[]): Promise<void> {
    const list = calendarList<AnyRecord, never>({ table }, VERIFIED_LISTS[name].entity)
    async function build(id: string): Promise<Changeset | null> {
      const stored = await list.find(clinic, id)
      if (!stored) return null
      const changes = new Changeset(table, clinic)
      if (name === 'appointments')
        await external.move(changes, 'appointment', id, stored.externalId ?? null, null)
      list.remove(changes, stored)
      return changes
    }
    async function* units(): AsyncGenerator<Unit> {
      for (const id of ids) {
        const changes = await build(id)
        if (changes) yield { changes, rebuild: () => build(id) }
      }
    }
    await commitPacked(table, clinic, units())
  }

  /** @throws StillInUse for a patient with a record, which was added since it was planned */
  async function removePatients(ids: readonly string[]): Promise<void> {
    const removal = patientRemoval({ table })
    for (const id of ids) {
      for (const code of ENTITY_CODES) await requireEmpty(ownerPartition(clinic, code, 'patient', id))
      await retryOnConflict(async () => {
        const patient = await patientStore({ table }).find(clinic, id)
        // The erasure of one who is being erased at the same time needs the patient.
        if (patient && patient.erasedAt === null) await removal.remove(clinic, patient)
      })
    }
  }

  /** Removes doctors, and the items of their days and tallies, which have nothing in them. @throws StillInUse */
  async function removeDoctors(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      await requireEmpty(calendarListPartition(clinic, 'A', id))
      await commitWithRetry(async () => {
        const doctor = await doctorStore({ table }).find(clinic, id)
        if (!doctor) return null
        const changes = new Changeset(table, clinic)
        await external.move(changes, 'doctor', id, doctor.externalId ?? null, null)
        changes.remove(doctorKey(clinic, id), doctor.version)
        await addToCount(table, changes, doctorsPartition(clinic), -1)
        return changes
      })
      for (const pk of [doctorDayPartition(clinic, id), tallyPartition(clinic, 'A', id)])
        for await (const items of partitionPages(table, pk, { keysOnly: true })) await table.deleteMany(items)
    }
  }

  async function removeEntries(
    entries: Pick<CatalogueStore<{ readonly id: string }>, 'find' | 'remove'>,
    ids: readonly string[],
  ): Promise<void> {
    for (const id of ids)
      await retryOnConflict(async () => {
        const entry = await entries.find(clinic, id)
        // Without what an import left of it, so that an import may create it again.
        if (entry) await entries.remove(clinic, { id, version: entry.version })
      })
  }

  async function requireEmpty(pk: string): Promise<void> {
    if ((await table.query({ pk, limit: 1 })).length > 0)
      throw new StillInUse('a record was added to one that is to be removed: run the command again')
  }

  /** Empties the stored responses with data of these records. */
  const emptyResponsesAbout = (ids: ReadonlySet<string>): Promise<void> =>
    ids.size === 0
      ? Promise.resolve()
      : emptyResponses(table, clinic, ({ body, id, p }) =>
          [p, id, ...(String(body).match(ID) ?? [])].some((one) => ids.has(String(one))),
        )

  return { removeRecords, removePatients, removeDoctors, removeEntries, emptyResponses: emptyResponsesAbout }
}

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
