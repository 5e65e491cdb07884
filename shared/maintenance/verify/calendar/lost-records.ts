import { isDeepStrictEqual } from 'node:util'
import type { ListPosition } from '../../../store/calendar/calendar-row.ts'
import { calendarKey } from '../../../store/keys/calendar.ts'
import { keyText } from '../../../store/keys/key.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import type { VerifiedKind } from '../comparison/derived-items.ts'
import { findingOf, type Inspection } from '../comparison/inspection.ts'
import { imageOf, isRowOf } from '../comparison/record-image.ts'
import type { AnyRecord, VerifiedList } from './verified-lists.ts'

/** Greater than any version or number of events that the record had, so that it is not mistaken for a state that was read before. */
const RESTORED_VERSION = 1_000_000

/** What a record that is restored from its rows does not get back. */
const NOT_IN_ROWS = 'its external id, whether the API has linked it, and what its import left'

/**
 * Finds a record that is missing and that a row still holds. It can be restored if all its rows, wherever they are, agree and have every
 * attribute: long texts and the origin of imported records are in the record alone.
 */
export const lostRecordFinder =
  (
    { table, clinic }: Inspection,
    { entity }: VerifiedList<AnyRecord>,
    onFound: (position: ListPosition) => void,
  ): VerifiedKind['findKept'] =>
  async (id, row, record, stored) => {
    if (id === null || record) return null
    const key = calendarKey(clinic, entity.entityCode, id)
    // Items of the index of changes and of days hold nothing of a record, and neither does a row that has only a key.
    const holds = (item: Item) => isRowOf(entity, item) && Object.keys(attributesOf(item)).length > 0
    if (!holds(row)) return null
    const image = imageOf(clinic, entity, row, id)
    if (image) onFound(image.position)
    const rows = stored.filter(holds)
    const isComplete =
      row.t === undefined &&
      image?.rowKeys.some((one) => keyText(one) === keyText(row)) &&
      rows.every((one) => isDeepStrictEqual(attributesOf(one), attributesOf(row)))
    const held = rows.length === 1 ? '1 row still holds it' : `${rows.length} rows still hold it`
    const note = isComplete ? `${held}, without ${NOT_IN_ROWS}` : held
    const restored = { ...attributesOf(row), ...key, v: RESTORED_VERSION, ev: RESTORED_VERSION }
    const repair = () => table.transact([table.putWrite(restored, 'new')])
    return findingOf('record_missing', key, isComplete ? repair : null, note)
  }

const attributesOf = ({ pk: _, sk: __, ...attributes }: Item) => attributes
