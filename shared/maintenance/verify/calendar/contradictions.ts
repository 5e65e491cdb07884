import { isDeepStrictEqual } from 'node:util'
import { addsUp, type Invoice } from '../../../domain/money/invoice.ts'
import { rowAttributes } from '../../../store/calendar/calendar-row.ts'
import { INVOICES } from '../../../store/calendar/invoices.ts'
import { DECIMALS_ATTRIBUTE } from '../../../store/table/stored-amounts.ts'
import type { VerifiedKind } from '../comparison/derived-items.ts'
import { findingOf } from '../comparison/inspection.ts'
import { imageOf, isRowOf } from '../comparison/record-image.ts'
import type { AnyRecord, VerifiedList } from './verified-lists.ts'

/**
 * Finds invoices whose amounts do not add up, and records with values that none of their rows has. A record and its rows are written together,
 * so a row is not written from a record that may be the wrong one.
 */
export function contradictionFinder({
  entity,
  copied,
}: VerifiedList<AnyRecord>): VerifiedKind['checkRecord'] {
  /** Names have other copies, and the index of changes has the time of the last change. */
  const ignored = new Set(['pk', 'sk', 'u', ...copied])

  return async (item, stored) => {
    const image = imageOf(entity, item)
    if (!image) return null
    if (entity.entityCode === INVOICES.entityCode && !addsUp(image.record as typeof image.record & Invoice))
      return findingOf('amounts_wrong', image.key)
    const attributes = entity.encode(image.record as never)
    const { t } = rowAttributes(attributes, entity)
    // Items from before amounts had their decimals lack them.
    const own: Readonly<Record<string, unknown>> = {
      ...attributes,
      t,
      [DECIMALS_ATTRIBUTE]: item[DECIMALS_ATTRIBUTE],
    }
    const rows = [...stored.values()].filter((one) => isRowOf(entity, one))
    const names = new Set(rows.flatMap(Object.keys).filter((name) => !ignored.has(name)))
    const isConfirmed = (name: string) => rows.some((row) => isDeepStrictEqual(row[name], own[name]))
    return [...names].every(isConfirmed) ? null : findingOf('record_contradicted', image.key)
  }
}
