import type { ClinicId } from '../../../../../shared/domain/clinic.ts'
import { shortId } from '../../../../../shared/store/keys/key.ts'
import { allItems } from '../../../../support/all-items.ts'
import type { TestTable } from '../../../../support/table.ts'
import { sortedJson } from '../../../../support/table-text.ts'

/** Families of items that a restore leaves as they are, or that have no meaning without the version of their records. */
const OTHERS = /^(C|K|R|PH|PC|PS#.*|U.|E.*|W.*|N.*|F|XF|MQ.*)$/

const VOLATILE = new Set(['v', 'ev', 'u', 'updatedAt'])

/** Everything that lists, search, tallies and days of a clinic show, without the times of changes. */
export async function contentOf(table: TestTable, clinic: ClinicId): Promise<string[]> {
  const items = (await allItems(table)).filter(
    ({ pk }) => pk.startsWith(`${shortId(clinic)}#`) && !OTHERS.test(pk.slice(shortId(clinic).length + 1)),
  )
  return (
    items
      .map(({ pk, sk, ...attributes }) => {
        const kept = Object.entries(attributes).filter(
          ([name, value]) =>
            !VOLATILE.has(name) && value !== 0 && !(Array.isArray(value) && value.length === 0),
        )
        return { key: `${pk} ${sk}`, kept }
      })
      // Days and months without a record in them.
      .filter(({ kept }) => kept.length > 0)
      .map(({ key, kept }) => `${key} ${sortedJson(Object.fromEntries(kept))}`)
      .sort()
  )
}
