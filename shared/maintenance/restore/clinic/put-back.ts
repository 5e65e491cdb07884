/**
 * Writes the records of a clinic as a copy of an earlier time has them, through their stores: lists, tallies, search, days and events
 * follow. Every write may be the last: planned and run again, it continues.
 */
import type { ClinicId } from '../../../domain/clinic.ts'
import { calendarList } from '../../../store/calendar/calendar-list.ts'
import {
  type CatalogueStore,
  departmentStore,
  priceListStore,
  roomStore,
  treatmentStore,
} from '../../../store/catalogue.ts'
import { addToCount } from '../../../store/catalogue-count.ts'
import { copiedNames } from '../../../store/copies/copied-names.ts'
import { addDoctor, doctorStore, readHolidays } from '../../../store/doctors.ts'
import { externalIds } from '../../../store/external-ids/links.ts'
import { holidayStore } from '../../../store/holidays.ts'
import { doctorsPartition } from '../../../store/keys/clinics.ts'
import { patientKey } from '../../../store/keys/patients.ts'
import { patientRemoval } from '../../../store/patients/patient-removal.ts'
import { MAX_UPDATED, type PatientChange, patientWriter } from '../../../store/patients/patient-writer.ts'
import { patientStore } from '../../../store/patients/patients.ts'
import { Changeset } from '../../../store/table/changeset.ts'
import { chunked } from '../../../store/table/chunked.ts'
import { commitPacked, type Unit } from '../../../store/table/commit-packed.ts'
import { ExternalIdTaken } from '../../../store/table/errors.ts'
import { retryOnConflict } from '../../../store/table/retries.ts'
import type { Table } from '../../../store/table/table.ts'
import { type AnyRecord, type ListName, VERIFIED_LISTS } from '../../verify/calendar/verified-lists.ts'
import type { ClinicTables, RestoredKind } from './comparison.ts'
import type { RestorePlan } from './plan.ts'
import { recordRemoval } from './removal.ts'
import {
  isRestored,
  isSamePatient,
  type RestoredState,
  restoredPatient,
  restoredStates,
} from './restored-states.ts'

/** Records that are read together. */
const BATCH_SIZE = 50

/** Attempts to give records their external ids: those that exchange them release them first. */
const MAX_PASSES = 3

/** Carries out a plan. Nothing but erasures may change the clinic's records in the meantime. */
export async function putBack(tables: ClinicTables, clinic: ClinicId, plan: RestorePlan): Promise<void> {
  const { table } = tables
  const records = recordWriter(tables, clinic)
  const removal = recordRemoval(table, clinic)
  const copies = copiedNames(table)
  const changed = (kind: RestoredKind) => plan.changed.filter((one) => one.kind === kind).map(({ id }) => id)
  const removed = (kind: RestoredKind) => plan.removed.filter((one) => one.kind === kind).map(({ id }) => id)

  // Before any record is removed: afterwards nothing says which responses are about it.
  await removal.emptyResponses(new Set(plan.removed.map(({ id }) => id)))
  if (plan.areHolidaysChanged) await putBackHolidays(tables, clinic)
  for (const kind of ['department', 'room', 'treatment', 'price-list'] as const)
    await putBackEntries(tables, clinic, kind, changed(kind))
  const doctors = await putBackDoctors(tables, clinic, changed('doctor'))
  await copies.refreshHolidays(clinic)
  const patients = await putBackPatients(tables, clinic, changed('patient'))
  await copies.refreshAll(clinic)

  await removal.removeRecords('appointments', removed('appointment'))
  await records.putBack('appointments', changed('appointment'))
  await records.putBack('payments', changed('payment'))
  await removal.removeRecords('payments', removed('payment'))
  const gone = new Set(removed('invoice'))
  const invoices = new Set([...changed('invoice'), ...plan.invoices])
  await records.putBack(
    'invoices',
    [...invoices].filter((id) => !gone.has(id)),
  )
  await removal.removeRecords('invoices', removed('invoice'))

  await removal.removePatients(removed('patient'))
  await removal.removeDoctors(removed('doctor'))
  // Removed records have released the external ids of these.
  await putBackDoctors(tables, clinic, doctors)
  await putBackPatients(tables, clinic, patients)
  for (const kind of ['price-list', 'treatment', 'room', 'department'] as const)
    await removal.removeEntries(CATALOGUE[kind]({ table }), removed(kind))
  await patientRemoval({ table }).closeGaps(clinic)
}

type CatalogueKind = Extract<RestoredKind, 'department' | 'room' | 'treatment' | 'price-list'>
type Entry = { readonly id: string }

/** Each kind is put back by its own store, as entries of which only the id is read. */
const CATALOGUE = {
  department: departmentStore,
  room: roomStore,
  treatment: treatmentStore,
  'price-list': priceListStore,
} as unknown as Readonly<Record<CatalogueKind, (platform: { table: Table }) => CatalogueStore<Entry>>>

async function putBackEntries(
  { table, copy }: ClinicTables,
  clinic: ClinicId,
  kind: CatalogueKind,
  ids: readonly string[],
): Promise<void> {
  const [entries, earlier] = [CATALOGUE[kind]({ table }), CATALOGUE[kind]({ table: copy })]
  for (const batch of chunked(ids, BATCH_SIZE))
    await retryOnConflict(async () => {
      const [now, then] = [await entries.findMany(clinic, batch), await earlier.findMany(clinic, batch)]
      const changes = [...then.values()].map(({ version: _, ...after }) => ({
        before: now.get(after.id) ?? null,
        after,
      }))
      await entries.save(clinic, changes)
    })
}

const putBackHolidays = ({ table, copy }: ClinicTables, clinic: ClinicId): Promise<unknown> =>
  retryOnConflict(async () => {
    const then = await readHolidays(copy, clinic)
    const holidays = holidayStore({ table })
    await holidays.save(clinic, await holidays.read(clinic), then)
  })

async function putBackDoctors({ table, copy }: ClinicTables, clinic: ClinicId, ids: readonly string[]) {
  const external = externalIds({ table })
  return inPasses(ids, (id, keepsExternalId) =>
    retryOnConflict(async () => {
      const then = await doctorStore({ table: copy }).find(clinic, id)
      const before = await doctorStore({ table }).find(clinic, id)
      if (!then) return
      const { version: _, isLinkedByApi: __, holidays: ___, externalId: former, ...doctor } = then
      const externalId = keepsExternalId ? (former ?? null) : null
      const { holidays } = before ?? (await readHolidays(table, clinic))
      const changes = new Changeset(table, clinic)
      await external.move(changes, 'doctor', id, before?.externalId ?? null, externalId)
      await addToCount(table, changes, doctorsPartition(clinic), before ? 0 : 1)
      addDoctor(changes, { before, after: { ...doctor, externalId, ...(holidays?.length && { holidays }) } })
      await changes.commit()
    }),
  )
}

/**
 * Writes records one by one. One whose external id still belongs to another record is written without it, and again when all others
 * have theirs. Returns those that are left without.
 */
async function inPasses(
  ids: readonly string[],
  write: (id: string, keepsExternalId: boolean) => Promise<unknown>,
): Promise<readonly string[]> {
  let left = ids
  for (let pass = 1; left.length > 0 && pass <= MAX_PASSES; pass++) {
    const deferred: string[] = []
    for (const id of left)
      await write(id, true).catch(async (error) => {
        if (!(error instanceof ExternalIdTaken)) throw error
        deferred.push(id)
        await write(id, false)
      })
    left = deferred
  }
  return left
}

async function putBackPatients({ table, copy }: ClinicTables, clinic: ClinicId, ids: readonly string[]) {
  const writer = patientWriter({ table })
  const [current, earlier] = [patientStore({ table }), patientStore({ table: copy })]
  /** Patients who do not exist now, or have another external id. */
  const others = new Set<string>()
  // A patient who is erased at the same time has another version: read again, nothing of the former state comes back.
  for (const batch of chunked(ids, MAX_UPDATED))
    await retryOnConflict(async () => {
      const [now, then] = [await current.findMany(clinic, batch), await earlier.findMany(clinic, batch)]
      const changes: PatientChange[] = []
      for (const [id, former] of then) {
        const before = now.get(id)
        const after = before && restoredPatient(before, former)
        if (before?.externalId !== after?.externalId || !before || !after) others.add(id)
        else if (!isSamePatient(before, after)) changes.push({ before, after })
      }
      if (changes.length > 0) await writer.update(clinic, changes)
    })
  const left = await inPasses([...others], (id, keepsExternalId) =>
    retryOnConflict(async () => {
      const then = await earlier.find(clinic, id)
      if (!then) return
      const find = async () => await current.find(clinic, id)
      if (!(await find())) await writer.createMany(clinic, [{ ...then, externalId: null }])
      const before = await find()
      const former = { ...then, ...(!keepsExternalId && { externalId: null }) }
      const after = before && restoredPatient(before, former)
      if (after && !isSamePatient(before, after)) await writer.update(clinic, [{ before, after }])
    }),
  )
  await writer.snapshotIfDue(clinic)
  return left
}

/** Writes the records of calendar lists. */
function recordWriter({ table, copy }: ClinicTables, clinic: ClinicId) {
  const external = externalIds({ table })
  const states = restoredStates({ table, copy }, clinic)

  async function putBack(name: ListName, ids: readonly string[]): Promise<void> {
    const list = calendarList<AnyRecord, never>({ table }, VERIFIED_LISTS[name].entity)
    let deferred = new Set<string>()

    /** The changes of records, by id; of those alone that differ. */
    async function build(batch: readonly string[], isLastPass: boolean): Promise<Map<string, Changeset>> {
      const built = new Map<string, Changeset>()
      for (const [id, state] of await states.read(name, batch)) {
        if (isRestored(state)) continue
        const changes = new Changeset(table, clinic)
        await addChange(changes, state, isLastPass)
        changes.requireVersion(patientKey(clinic, state.patient.id), state.patient.version)
        built.set(id, changes)
      }
      return built
    }

    async function addChange(
      changes: Changeset,
      { before, after, provenance, events }: RestoredState,
      isLastPass: boolean,
    ): Promise<void> {
      const { id } = after
      if (!('startTime' in after)) {
        list.change(changes, before, after, provenance, events)
        return
      }
      const former = externalIdOf(before?.record)
      try {
        await external.move(changes, 'appointment', id, former, externalIdOf(after))
        list.change(changes, before, after, provenance, events)
      } catch (error) {
        if (!(error instanceof ExternalIdTaken) || isLastPass) throw error
        deferred.add(id)
        const { externalId: _, ...others } = provenance
        await external.move(changes, 'appointment', id, former, null)
        list.change(changes, before, { ...after, externalId: null }, others, events)
      }
    }

    async function* units(left: readonly string[], isLastPass: boolean): AsyncGenerator<Unit> {
      for (const batch of chunked(left, BATCH_SIZE))
        for (const [id, changes] of await build(batch, isLastPass))
          yield { changes, rebuild: async () => (await build([id], isLastPass)).get(id) ?? null }
    }

    let left = ids
    for (let pass = 1; left.length > 0; pass++) {
      deferred = new Set()
      await commitPacked(table, clinic, units(left, pass === MAX_PASSES))
      left = [...deferred]
    }
  }

  return { putBack }
}

const externalIdOf = (record: AnyRecord | undefined): string | null =>
  record && 'externalId' in record ? record.externalId : null
