/** Creates, changes and removes records of the catalogue, with all that follows from it for others of their kind. */
import { isDeepStrictEqual } from 'node:util'
import { MAX_CATALOGUE } from '../domain/booking/catalogue.ts'
import {
  type CatalogueRules,
  DEPARTMENT_RULES,
  InvalidEntry,
  PRICE_LIST_RULES,
  ROOM_RULES,
  TREATMENT_RULES,
} from '../domain/catalogue/catalogue-rules.ts'
import type { ClinicId, ClinicInfo } from '../domain/clinic.ts'
import {
  type CatalogueState,
  type CatalogueStore,
  departmentStore,
  priceListStore,
  roomStore,
  type StoredEntry,
  treatmentStore,
} from './catalogue.ts'
import { doctorStore } from './doctors.ts'
import { newRecordId, type UnlinkedKind } from './external-ids/new-record-id.ts'
import { provenanceOf } from './external-ids/provenance.ts'
import { Changeset } from './table/changeset.ts'
import { type RequestedWrite, UNREQUESTED } from './table/idempotency.ts'
import { retryOnConflict } from './table/retries.ts'
import type { Table } from './table/table.ts'

type Platform = { readonly table: Table }

/** Records of another kind, by their ids. */
type Referable = {
  readonly findMany: (clinic: ClinicId, ids: readonly string[]) => Promise<ReadonlyMap<string, unknown>>
}

export type CatalogueChanges<Entry, Values> = ReturnType<
  typeof catalogueChanges<Entry & { id: string }, Values>
>

function catalogueChanges<Entry extends { readonly id: string }, Values>(
  { table }: Platform,
  rules: CatalogueRules<Entry, Values>,
  store: CatalogueStore<Entry>,
  referable?: Referable,
) {
  /** Writes a record, and those that give something up to it. @throws InvalidEntry */
  async function save(
    clinic: ClinicId,
    { entries, version }: CatalogueState<Entry>,
    before: StoredEntry<Entry> | null,
    after: Entry,
    request: RequestedWrite<Entry>,
  ): Promise<Entry> {
    const present = entries.map((entry) => ({ ...entry, ...rules.displace?.(after, entry) }))
    const known = await referable?.findMany(clinic, [...new Set(rules.references(after))])
    const problems = rules.problems(after, present, known ?? new Map())
    if (problems.length > 0) throw new InvalidEntry(problems)
    const displaced = entries.flatMap((entry, at) => {
      const changed = present[at] ?? entry
      return isDeepStrictEqual(changed, entry) ? [] : [{ before: entry, after: changed }]
    })
    await store.save(clinic, [{ before, after }, ...displaced], version, (changes) =>
      request.store(changes, after, ''),
    )
    return after
  }

  /** Creates a record. @throws InvalidEntry; ExternalIdTaken; RequestCompleted */
  const create = (
    { id: clinic, currency }: ClinicInfo,
    created: { readonly id: string; readonly externalId?: string | null | undefined },
    valuesOf: (before: null) => Values,
    request: RequestedWrite<Entry> = UNREQUESTED,
  ): Promise<Entry> =>
    retryOnConflict(async () => {
      const [state] = await Promise.all([store.readState(clinic), request.requireNew()])
      const ids = new Set(state.entries.map(({ id }) => id))
      const kind = rules.kind.replace(' ', '-') as UnlinkedKind
      const id = await newRecordId(table, clinic, kind, created, (one) => ids.has(one))
      const max = MAX_CATALOGUE[rules.kind]
      const issue = `cannot be added: the clinic has ${max} ${rules.kind}s already, the most that it can have`
      if (ids.size >= max) throw new InvalidEntry([{ field: 'name', issue }])
      const provenance = provenanceOf({ externalId: created.externalId ?? null })
      return save(
        clinic,
        state,
        null,
        { ...rules.apply(valuesOf(null), null, id, currency), ...provenance },
        request,
      )
    })

  /**
   * Changes a record; null for an unknown one. If nothing changes, nothing is written but the response.
   * @throws InvalidEntry; RequestCompleted
   */
  const update = (
    { id: clinic, currency }: ClinicInfo,
    id: string,
    valuesOf: (before: Entry) => Values,
    request: RequestedWrite<Entry> = UNREQUESTED,
  ): Promise<{ readonly before: Entry; readonly after: Entry } | null> =>
    retryOnConflict(async () => {
      const [state] = await Promise.all([store.readState(clinic), request.requireNew()])
      const before = state.entries.find((entry) => entry.id === id)
      if (!before) return null
      request.requireMatch(before)
      const after = { ...before, ...rules.apply(valuesOf(before), before, id, currency) }
      if (!isDeepStrictEqual(before, after))
        return { before, after: await save(clinic, state, before, after, request) }
      const changes = new Changeset(table, clinic)
      request.store(changes, before, '')
      await changes.commit()
      return { before, after: before }
    })

  /** Removes a record; false for an unknown one. `check` throws for one that must stay. */
  const remove = (
    clinic: ClinicId,
    id: string,
    { requireMatch }: Pick<RequestedWrite<Entry>, 'requireMatch'>,
    check: (entry: Entry) => void,
  ): Promise<boolean> =>
    retryOnConflict(async () => {
      const before = await store.find(clinic, id)
      if (!before) return false
      requireMatch(before)
      check(before)
      await store.remove(clinic, before)
      return true
    })

  return { create, update, remove }
}

export const departmentChanges = (platform: Platform) =>
  catalogueChanges(platform, DEPARTMENT_RULES, departmentStore(platform))

export const roomChanges = (platform: Platform) =>
  catalogueChanges(platform, ROOM_RULES, roomStore(platform), departmentStore(platform))

export const treatmentChanges = (platform: Platform) =>
  catalogueChanges(platform, TREATMENT_RULES, treatmentStore(platform), doctorStore(platform))

export const priceListChanges = (platform: Platform) =>
  catalogueChanges(platform, PRICE_LIST_RULES, priceListStore(platform), treatmentStore(platform))
