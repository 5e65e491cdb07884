import { closestName } from '../domain/closest-name.ts'
import { type FieldIssue, MAX_DETAILS } from './errors.ts'

/** Names of responses and of other lists, and what requests have instead. */
const WRITTEN_NAMES: Readonly<Record<string, readonly string[]>> = {
  cancellation_reason: ['reason'],
  doctor: ['doctor_id'],
  full_name: ['first_name', 'last_name'],
  patient: ['patient_id'],
  room: ['room_id'],
  treatments: ['treatment_ids'],
  date_from: ['from'],
  date_to: ['to'],
  from: ['date_from'],
  to: ['date_to'],
}

/** The issue of an unknown field, with the field that was probably meant. Only listed issues, the first of `issues`, have one. */
export function unknownField(
  field: string,
  issue: string,
  known: readonly string[],
  issues: readonly FieldIssue[],
): FieldIssue {
  if (issues.length >= MAX_DETAILS) return { field, issue }
  const written = Object.hasOwn(WRITTEN_NAMES, field) ? (WRITTEN_NAMES[field] ?? []) : []
  const meant = written.every((name) => known.includes(name)) && written.join(' and ')
  const suggested = meant || closestName(field, known)
  return { field, issue: suggested ? `${issue}: did you mean ${suggested}?` : issue }
}
