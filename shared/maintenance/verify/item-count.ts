import type { ListName } from './calendar/verified-lists.ts'

type RecordCounts = Readonly<Record<'patients' | ListName, number>>

/** The items that are read of each record: itself, its place in the index of changes, and its rows. */
const ITEMS_OF_RECORD: RecordCounts = { patients: 3, appointments: 5, invoices: 4, payments: 5, messages: 4 }

const COUNTED = new Set([...Object.keys(ITEMS_OF_RECORD), 'changes', 'rows', 'patient_rows'])

/** About how many items a verification reads of so many records: nearly all that it reads. */
export const itemCount = (counts: RecordCounts): number =>
  (Object.keys(ITEMS_OF_RECORD) as (keyof RecordCounts)[]).reduce(
    (sum, kind) => sum + counts[kind] * ITEMS_OF_RECORD[kind],
    0,
  )

/** Whether checked items of a kind are among them. */
export const isItemOfRecord = (what: string): boolean => COUNTED.has(what)
