/** Finds line items of invoices: in rows, in columns with numbers, and in files of their own. */
import type { Column, Sample } from './read-samples.ts'
import { referenceTo } from './suggest-references.ts'

/** The columns of a field of invoices, or of a line item (`item.quantity`), among some columns. */
export type FindColumns = (field: string, columns: readonly Column[]) => readonly Column[]

/** The columns of the fields of a line item. */
export type ItemColumns = { readonly [field: string]: string }

/** The columns of a line item, if there are enough of them. The amount of a row without a quantity is the price. */
export function itemColumns(columns: readonly Column[], find: FindColumns): ItemColumns | undefined {
  const items: { [field: string]: string } = {}
  for (const field of ['description', 'quantity', 'tax_rate', 'discount_rate', 'unit_price']) {
    const column = find(`item.${field}`, columns).find(({ name }) => !Object.values(items).includes(name))
    if (column) items[field] = column.name
  }
  const [amount] = [...find('subtotal', columns), ...find('total_amount', columns)]
  if (items.quantity === undefined && amount) items.unit_price ??= amount.name
  return items.description !== undefined && items.unit_price !== undefined ? items : undefined
}

const NUMBERED = /^(\D*?)(\d{1,2})(\D*)$/

/** The columns of each line item of a row: `item1_desc`, `item1_price`, `item2_desc`, ..., or `Item`, `Price`, `Item 2`, ... */
export function numberedItems(columns: readonly Column[], find: FindColumns): ItemColumns[] {
  const all = columns.map((column) => {
    const [, before = column.name, number = '', after = ''] = NUMBERED.exec(column.name) ?? []
    return { column, number, words: wordsOf(`${before} ${after}`) }
  })
  const repeated = new Set(all.flatMap(({ number, words }) => (number === '' ? [] : [words.join(' ')])))
  const items = all.filter(({ words }) => repeated.has(words.join(' ')))
  const [first] = items
  const isShared = items.every(({ words }) => words.length > 1 && words[0] === first?.words[0])
  const nameOf = (words: readonly string[]) => words.slice(isShared ? 1 : 0).join(' ')
  const byNumber = Map.groupBy(items, ({ number }) => number)
  if (byNumber.size < 2) return []
  return [...byNumber.values()].flatMap((some) => {
    const names = new Map(some.map(({ column, words }) => [nameOf(words), column.name]))
    const found = itemColumns(
      some.map(({ column, words }) => ({ ...column, name: nameOf(words) })),
      find,
    )
    if (!found) return []
    return [
      Object.fromEntries(Object.entries(found).map(([field, name]) => [field, names.get(name) ?? name])),
    ]
  })
}

const wordsOf = (name: string): string[] => name.split(/[\s_.-]+/).filter((word) => word !== '')

/** Whether a file has line items of the invoices in other files, but not their patients. */
export const isItemsFile = (sample: Sample, invoices: readonly Sample[], find: FindColumns): boolean =>
  itemColumns(sample.columns, find) !== undefined &&
  find('patient_external_id', sample.columns).length === 0 &&
  referenceToInvoices(sample, invoices) !== undefined

/** The column with the invoice of each line item, and the column of the invoices that has the same values. */
export const referenceToInvoices = ({ columns }: Sample, invoices: readonly Sample[]) =>
  referenceTo(
    invoices,
    columns.filter(({ isUnique }) => !isUnique),
    (text) => text,
  )
