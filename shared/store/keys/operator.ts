/**
 * Items that only the operator may read and write: no function but the worker of maintenance has access to their partitions,
 * which do not begin with the short id of a clinic. The states of imports are an exception: functions that change the catalogue or
 * doctors access those too.
 */
import type { ClinicId } from '../../domain/clinic.ts'
import { type Key, shortId } from './key.ts'

export const ERASURE_PARTITION_PREFIX = 'erasure#'
export const IMPORT_PARTITION_PREFIX = 'import#'
export const TABLE_PARTITION_PREFIX = 'table#'
const WALK_PARTITION_PREFIX = 'walk#'

export const OPERATOR_PARTITION_PREFIXES = [TABLE_PARTITION_PREFIX, WALK_PARTITION_PREFIX]

export const erasuresPartition = (clinic: ClinicId): string => `${ERASURE_PARTITION_PREFIX}${shortId(clinic)}`

export const erasureKey = (clinic: ClinicId, patient: string): Key => ({
  pk: erasuresPartition(clinic),
  sk: patient,
})

/** The deletion of a clinic. It is not in the clinic's partition of the ledger, which lists patients. */
export const deletedClinicKey = (clinic: ClinicId): Key => ({
  pk: `${ERASURE_PARTITION_PREFIX}clinics`,
  sk: clinic,
})

export const importPartition = (clinic: ClinicId): string => `${IMPORT_PARTITION_PREFIX}${shortId(clinic)}`

/** The item whose version changes with every save of a record of the catalogue in a partition, or of doctors who become active. */
export const catalogueVersionKey = (clinic: ClinicId, partition: string): Key => ({
  pk: importPartition(clinic),
  sk: `catalogue#${partition}`,
})

/** The state that an import left of a record that was removed since. */
export const importedRemovalKey = (clinic: ClinicId, id: string): Key => ({
  pk: importPartition(clinic),
  sk: `removed#${id}`,
})

/** The announcement of a run that has imported a file. */
export const announcedImportKey = (clinic: ClinicId, run: string): Key => ({
  pk: importPartition(clinic),
  sk: `announced#${run}`,
})

/** The format that every item of the table has reached. */
export const tableFormatKey: Key = { pk: `${TABLE_PARTITION_PREFIX}format`, sk: 'format' }

/**
 * How far a walk over the table or its clinics is: the keys of the last items, counts, and the lease of the process that walks.
 * Only roles that run such a command may write, each under its own prefix. The item is deleted at the end of the walk.
 */
export const walkKey = (role: 'read' | 'support' | 'maintain', name: string): Key => ({
  pk: `${walkPartitionPrefix(role)}${name}`,
  sk: 'progress',
})

/** How far the verification of one clinic is; with repairs, the role is `support`. */
export const verificationKey = (role: 'read' | 'support', clinic: ClinicId): Key =>
  walkKey(role, `verify#${shortId(clinic)}`)

/** The lease of a restore of one clinic. */
export const clinicRestoreKey = (clinic: ClinicId): Key => walkKey('maintain', `restore#${shortId(clinic)}`)

export const walkPartitionPrefix = (role: string): string => `${WALK_PARTITION_PREFIX}${role}#`

/** Maintenance that a worker of the stack runs: what was started, and how it ended. The progress of its walk is another item. */
export const runKey = (name: string): Key => ({ ...walkKey('maintain', name), sk: 'run' })

/** A note that the list of the clinic lacks a credential. */
export const unlistedCredentialKey = (clinic: ClinicId, key: string): Key => ({
  ...walkKey('support', 'unlisted'),
  sk: `${clinic}#${key}`,
})

const FINDING_PREFIX = 'clinic#'

/** What a worker found in a clinic, or why it could not do its task there. */
export const findingKey = (task: string, clinic: string): Key => ({
  ...walkKey('maintain', task),
  sk: `${FINDING_PREFIX}${clinic}`,
})

/** The findings of a task, of all clinics. */
export const findingsRange = (task: string) => ({
  ...findingKey(task, ''),
  from: FINDING_PREFIX,
  to: `${FINDING_PREFIX}~`,
})
