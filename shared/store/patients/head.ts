import type { ClinicId } from '../../domain/clinic.ts'
import { patientHeadKey } from '../keys/patients.ts'
import { type AttributeMap, attribute, codec, number } from '../table/attributes.ts'
import type { Changeset } from '../table/changeset.ts'
import { ConditionFailed, WriteConflict } from '../table/errors.ts'
import type { Table } from '../table/table.ts'
import type { Item, Write } from '../table/write-requests.ts'

/** The item with a clinic's number of patients and the state of its search segments. */
export type PatientHead = {
  /** Number of patients; their ordinals are 0..patients-1. */
  readonly patients: number
  /** Number of updates of patients so far. Each has an entry with its number in the change log. */
  readonly updates: number
  /** Ordinals below this are in the segments. */
  readonly indexedPatients: number
  /** Updates up to this one are in the segments. */
  readonly indexedUpdates: number
  /** The lowest version that each segment must have; an older one was read too early. */
  readonly segmentVersions: readonly number[]
  /** Counts the snapshots; only one of two concurrent snapshots can increment it. */
  readonly snapshots: number
  /** Change log entries up to this one are deleted. */
  readonly deletedUpdates: number
}

const HEAD_ATTRIBUTES = {
  patients: number('n'),
  updates: number('u'),
  indexedPatients: number('sn'),
  indexedUpdates: number('su'),
  segmentVersions: attribute<readonly number[]>(
    'sv',
    (versions) => versions,
    (stored) => {
      if (!Array.isArray(stored)) throw new TypeError('attribute sv is not a list')
      return stored
    },
  ),
  snapshots: number('v'),
  deletedUpdates: number('lf'),
} satisfies AttributeMap<PatientHead>

const { encode, decode } = codec<PatientHead>(HEAD_ATTRIBUTES)

export const EMPTY_HEAD: PatientHead = {
  patients: 0,
  updates: 0,
  indexedPatients: 0,
  indexedUpdates: 0,
  segmentVersions: [],
  snapshots: 0,
  deletedUpdates: 0,
}

export const patientHeadItem = (clinic: ClinicId, head: PatientHead): Item => ({
  ...patientHeadKey(clinic),
  ...encode(head),
})

/** @throws TypeError for a damaged head */
export async function readPatientHead(table: Table, clinic: ClinicId): Promise<PatientHead> {
  const item = await table.get(patientHeadKey(clinic))
  return item ? decode(item) : EMPTY_HEAD
}

/** Sets these fields of the head, if those of `expected` still have these values. */
export function headWrite(
  table: Table,
  clinic: ClinicId,
  next: Partial<PatientHead>,
  expected: Partial<PatientHead>,
): Write {
  const names: Record<string, string> = {}
  const values: Record<string, unknown> = {}
  const equations = (fields: Partial<PatientHead>, prefix: string): string[] =>
    Object.entries(fields).map(([field, value]) => {
      names[`#${field}`] = HEAD_ATTRIBUTES[field as keyof PatientHead].name
      values[`:${prefix}${field}`] = value
      return `#${field} = :${prefix}${field}`
    })
  return table.updateWrite(patientHeadKey(clinic), {
    UpdateExpression: `SET ${equations(next, '').join(', ')}`,
    ConditionExpression: equations(expected, 'expected_').join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  })
}

/**
 * Commits changes that count new patients or updates in the head. Returns the head as it is then.
 * @throws WriteConflict if another writer has moved the head since it was read; ConditionFailed for any other condition
 */
export async function commitWithHead(
  table: Table,
  changes: Changeset,
  read: PatientHead,
  added: { readonly patients?: number; readonly updates?: number },
): Promise<PatientHead> {
  const { patients, updates } = read
  const next = { patients: patients + (added.patients ?? 0), updates: updates + (added.updates ?? 0) }
  changes.requireRecent()
  try {
    await table.tryTransact([
      headWrite(table, changes.clinic, next, { patients, updates }),
      ...changes.writes(),
    ])
    return { ...read, ...next }
  } catch (error) {
    throw error instanceof ConditionFailed && error.failedIndexes.includes(0)
      ? new WriteConflict(error)
      : error
  }
}
