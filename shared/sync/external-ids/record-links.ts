/** Links records to their ids in the clinic's own system, and confirms links that the API has made. */
import type { ClinicId } from '../../domain/clinic.ts'
import { appointmentStore } from '../../store/calendar/appointments.ts'
import { doctorStore } from '../../store/doctors.ts'
import { externalIds, type LinkableKind } from '../../store/external-ids/links.ts'
import {
  hasExternalId,
  type Provenance,
  provenanceOf,
  setProvenance,
} from '../../store/external-ids/provenance.ts'
import { doctorKey } from '../../store/keys/clinics.ts'
import { patientKey } from '../../store/keys/patients.ts'
import { patientWriter } from '../../store/patients/patient-writer.ts'
import { patientStore } from '../../store/patients/patients.ts'
import { Changeset } from '../../store/table/changeset.ts'
import { retryOnConflict } from '../../store/table/retries.ts'
import type { Table } from '../../store/table/table.ts'
import type { RowIssue } from '../outcomes/row-rejected.ts'
import { LinkedSince } from './new-links.ts'

/** A record that can be linked, as it was read. */
export type LinkableRecord = Provenance & {
  readonly id: string
  readonly isErased: boolean
  /** Replaces the provenance. @throws ConditionFailed when the record was changed since it was read; ExternalIdTaken */
  readonly save: (provenance: Provenance) => Promise<void>
}

/** Reads a record of each kind. */
export const findLinkable: {
  readonly [Kind in LinkableKind]: (
    table: Table,
    clinic: ClinicId,
    id: string,
  ) => Promise<LinkableRecord | null>
} = {
  patient: async (table, clinic, id) => {
    const found = await patientStore({ table }).find(clinic, id)
    if (!found) return null
    const { imported: _, isLinkedByApi: __, ...patient } = found
    const save = async ({ externalId = null, ...provenance }: Provenance) => {
      const after = { ...patient, ...provenance, externalId }
      await patientWriter({ table }).update(clinic, [{ before: found, after }])
    }
    return { ...provenanceOf(found), id, isErased: found.erasedAt !== null, save }
  },
  appointment: async (table, clinic, id) => {
    const appointments = appointmentStore({ table })
    const found = await appointments.find(clinic, id)
    const patientId = found?.record.patient.id ?? ''
    const patient = found && (await patientStore({ table }).find(clinic, patientId))
    if (!found || !patient) return null
    const save = async (provenance: Provenance) => {
      const changes = new Changeset(table, clinic)
      const { externalId = null } = provenance
      await externalIds({ table }).move(changes, 'appointment', id, found.record.externalId, externalId)
      appointments.change(changes, found, { ...found.record, externalId }, provenance)
      changes.requireVersion(patientKey(clinic, patient.id), patient.version)
      await changes.commit()
    }
    return { ...provenanceOf(found), id, isErased: patient.erasedAt !== null, save }
  },
  doctor: async (table, clinic, id) => {
    const found = await doctorStore({ table }).find(clinic, id)
    if (!found) return null
    const save = async (provenance: Provenance) => {
      const changes = new Changeset(table, clinic)
      const { externalId = null } = provenance
      await externalIds({ table }).move(changes, 'doctor', id, found.externalId ?? null, externalId)
      setProvenance(changes, doctorKey(clinic, id), found.version, provenance)
      await changes.commit()
    }
    return { ...provenanceOf(found), id, isErased: false, save }
  },
}

/** Whether a link would replace an external id of the clinic's own system, which only an overwrite does. */
const isConflict = (record: LinkableRecord, externalId: string, overwrite: boolean): boolean =>
  record.externalId != null && !hasExternalId(record, externalId) && !record.isLinkedByApi && !overwrite

type Link = { readonly kind: LinkableKind; readonly id: string; readonly externalId: string }

/** Why a record cannot be linked to an external id; null if it can. */
export async function linkIssue(
  table: Table,
  clinic: ClinicId,
  { kind, id, externalId }: Link,
  overwrite: boolean,
): Promise<RowIssue | null> {
  const [holder, record] = await Promise.all([
    externalIds({ table }).find(clinic, kind, externalId),
    findLinkable[kind](table, clinic, id),
  ])
  if (holder !== null && holder !== id) return { field: 'external_id', issue: 'external_id_taken' }
  return record && isConflict(record, externalId, overwrite)
    ? { field: 'external_id', issue: 'conflict' }
    : null
}

/**
 * Sets the external id of a record, or confirms it. Returns whether anything changed.
 * @throws ExternalIdTaken; LinkedSince if the record was linked or erased since `linkIssue`
 */
export const linkRecord = (
  table: Table,
  clinic: ClinicId,
  { kind, id, externalId }: Link,
  overwrite: boolean,
): Promise<boolean> =>
  retryOnConflict(async () => {
    const record = await findLinkable[kind](table, clinic, id)
    if (!record || record.isErased || isConflict(record, externalId, overwrite)) throw new LinkedSince()
    if (hasExternalId(record, externalId) && !record.isLinkedByApi) return false
    const { imported } = record
    await record.save({ externalId, ...(imported !== undefined && { imported }) })
    return true
  })
