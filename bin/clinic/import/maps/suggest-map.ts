/** Suggests a map for files of an unknown system, from the names and values of their columns. It is to be edited. */
import { basename } from 'node:path'
import { foldedName } from '../files/field-names.ts'
import { LINE_ITEMS } from '../files/import-paths.ts'
import {
  countryOf,
  type Formats,
  guessFormats,
  isDate,
  isDateTime,
  isEmail,
  isTime,
  isTimeRange,
} from './guess-formats.ts'
import {
  columnsFor,
  columnsNamed,
  ENTITIES,
  type Entity,
  familiarity,
  type Language,
  plain,
  readLanguages,
  wordsOf,
} from './known-languages.ts'
import { type Column, joinedSamples, MAX_ROWS, type Sample } from './read-samples.ts'
import {
  type FindColumns,
  type ItemColumns,
  isItemsFile,
  itemColumns,
  numberedItems,
  referenceToInvoices,
} from './suggest-line-items.ts'
import { columnOf, type Find, type Take, takeNames, takePhones, titlesOf } from './suggest-patients.ts'
import { aliasesOf, referenceTo, type TextSource } from './suggest-references.ts'

/** A suggestion, with what it was made from. */
type Suggested = Suggestion & {
  readonly sample: Sample
  readonly map: { readonly columns: { readonly [field: string]: unknown }; aliases?: TextSource[] }
  readonly notes: string[]
}

/** The map of an entity, and what the operator has to know about it. */
export type Suggestion = {
  readonly files: readonly string[]
  readonly entity: string
  readonly map: object
  readonly notes: readonly string[]
}

/** Columns whose names tell a language. */
const MIN_FAMILIAR = 3

/** Fields whose values are words. */
const CODES = ['gender', 'status', 'type', 'payment_method', 'is_active']

const AMOUNTS = [
  'subtotal',
  'tax_amount',
  'discount_amount',
  'total_amount',
  'amount',
  'price',
  'item.unit_price',
]

const isOnlyDate = (column: Column, open: readonly Column[]): boolean =>
  isDate(column) && open.filter(isDate).length === 1

/** Fields whose columns other fields can have too. */
const NAMES = new Set(['external_id', 'invoice_number', 'full_name'])

const isReference = (field: string): boolean => field.endsWith('_external_id')

/** What a column without a known name contains. */
const CONTENT: {
  readonly [field: string]: (column: Column, open: readonly Column[], all: readonly Column[]) => boolean
} = {
  email_address: isEmail,
  date_of_birth: isOnlyDate,
  issue_date: isOnlyDate,
  payment_date: isOnlyDate,
  external_id: (column, _, [first]) =>
    column === first &&
    column.isUnique &&
    !isDate(column) &&
    column.values.every((text) => /^\S*\d\S*$/.test(text)),
}

/** The share of references of other files that may be wrong. */
const MAX_UNKNOWN = 0.05

/** The meaning of an unknown word: an import rejects it, with the field. */
const UNKNOWN = '?'

/** @param wanted the entity of all files, if the operator has said so */
export function suggestMaps(
  samples: readonly Sample[],
  entities: readonly Entity[],
  wanted: string | undefined,
): Suggestion[] {
  const all = joinedSamples(samples)
  // One system has one language, also in a file with few columns.
  const ordered = [...readLanguages(entities).values()].sort(
    (a, b) => familiarity(b, all) - familiarity(a, all),
  )
  const named = new Map(samples.map((sample) => [sample, wanted ?? entityOf(sample, ordered)]))
  const invoices = samples.filter((sample) => named.get(sample) === 'invoices')
  const itemFiles = samples.filter((sample) => {
    const others = invoices.filter((one) => one !== sample)
    return named.get(sample) !== 'payments' && isItemsFile(sample, others, invoiceColumns(ordered))
  })
  const byEntity = Map.groupBy(samples, (sample) =>
    wanted === undefined && itemFiles.includes(sample) ? LINE_ITEMS.name : (named.get(sample) as string),
  )
  const order = [...ENTITIES, LINE_ITEMS.name]
  const given = [...byEntity]
    .map(([entity, some]) => ({ entity, sample: joinedSamples(some) }))
    .sort((a, b) => order.indexOf(a.entity) - order.indexOf(b.entity))
  const bills = given.filter(({ entity }) => entity === 'invoices').map(({ sample }) => sample)
  const suggested: Suggested[] = []
  for (const { sample, entity } of given)
    suggested.push(
      entity === LINE_ITEMS.name
        ? itemsSuggestion(sample, bills, ordered)
        : suggestion(sample, entity, { ordered, entities, all, earlier: suggested, itemFiles }),
    )
  for (const one of suggested) addAliases(one, suggested)
  const suggestions = suggested.map(({ sample: _, ...one }) => one)
  const visits = given.find(({ entity }) => entity === 'appointments')
  if (wanted !== undefined || !visits || given.some(({ entity }) => entity === 'doctors')) return suggestions
  const [doctor] = columnsFor('appointments', 'doctor_external_id', visits.sample.columns, ordered)
  if (!doctor) return suggestions
  const doctors = {
    ...sourceOf(visits.sample),
    group: true,
    columns: { external_id: doctor.name, full_name: doctor.name },
    ignore: 'others',
  }
  const notes = [`no file of doctors: each ${JSON.stringify(doctor.name)} of the appointments becomes one`]
  return [{ files: visits.sample.files, entity: 'doctors', map: doctors, notes }, ...suggestions]
}

/** The names of the files of an entity, and the encoding of all of them. */
function sourceOf({ files, encodings }: Sample) {
  const [encoding] = encodings
  return {
    file: files.length === 1 ? files.map(stemOf)[0] : files.map(stemOf),
    ...(encodings.size === 1 && { encoding }),
  }
}

const stemOf = (file: string): string => basename(file).replace(/\.\w+$/, '')

/** The entity whose name the file has, or whose columns. */
function entityOf(sample: Sample, languages: readonly Language[]): string {
  const stems = sample.files.map((file) => plain(stemOf(file)))
  const named = ENTITIES.filter((entity) =>
    [entity, ...languages.flatMap(({ files }) => files?.[entity] ?? [])].some((name) =>
      stems.some((stem) => stem.startsWith(plain(name))),
    ),
  )
  const scores = (named.length > 0 ? named : ENTITIES).map((entity) => {
    const fields = new Set(languages.flatMap((language) => Object.keys(language[entity] ?? {})))
    const found = [...fields].flatMap((field) =>
      columnsFor(entity, field, sample.columns, languages.slice(0, 1)),
    )
    return { entity, score: new Set(found.map(({ name }) => name)).size }
  })
  const [best] = scores.sort((a, b) => b.score - a.score)
  return best && (best.score > 0 || named.length > 0) ? best.entity : 'patients'
}

type Context = {
  readonly ordered: readonly Language[]
  readonly entities: readonly Entity[]
  readonly all: Sample
  /** What was suggested for the files that this one may refer to. */
  readonly earlier: readonly Suggested[]
  /** Files with line items of invoices. */
  readonly itemFiles: readonly Sample[]
}

/** The columns of a file that were found so far. */
class Draft {
  readonly sources: { [field: string]: unknown } = {}
  readonly notes: string[] = []
  readonly used = new Set<string>()
  readonly columns: readonly Column[]

  constructor(columns: readonly Column[]) {
    this.columns = columns
  }

  readonly take: Take = (field, source, ...from) => {
    this.sources[field] = source
    for (const column of from) if (column) this.used.add(column.name)
  }

  /** Takes the first of the columns, and those of other files that have the same meaning. */
  takeFirst(field: string, [column, ...further]: readonly Column[]): void {
    if (!column) return
    const others = further.filter((one) => !one.files.some((file) => column.files.includes(file)))
    const names = others.length > 0 ? [column.name, ...others.map(({ name }) => name)] : column.name
    const part = field.endsWith('_date') && isDateTime(column) ? 'date' : undefined
    this.take(field, part ? { column: names, part } : names, column, ...others)
  }

  /** The columns that are not used. */
  get open(): readonly Column[] {
    return this.columns.filter(({ name }) => !this.used.has(name))
  }

  /** Those fields for which no column was found. */
  missing(fields: readonly string[]): string[] {
    return fields.filter((field) => !(field in this.sources))
  }
}

/** Finds the columns of fields: by their exact names, by parts of their names, and by their values. */
function takeFields(
  draft: Draft,
  entity: string,
  fields: readonly string[],
  { ordered, earlier, own }: Pick<Context, 'ordered' | 'earlier'> & { readonly own: Column | undefined },
): void {
  const { columns } = draft
  const find = (field: string) => columnsFor(entity, field, columns, ordered)
  const free = (field: string, some: readonly Column[]) =>
    some.filter(({ name }) => NAMES.has(field) || !draft.used.has(name))
  for (const field of draft.missing(fields))
    draft.takeFirst(
      field,
      isReference(field)
        ? referring(field, find(field), { columns, own }, earlier)
        : free(field, columnsNamed(entity, field, columns, ordered)),
    )
  for (const field of draft.missing(fields)) draft.takeFirst(field, free(field, find(field)))
  for (const field of draft.missing(fields)) {
    const byContent = draft.open.find(
      (one) =>
        CONTENT[field]?.(one, draft.open, columns) ||
        (CODES.includes(field) && hasWordsOf(entity, field, one, ordered)),
    )
    if (byContent) draft.takeFirst(field, [byContent])
  }
}

/** Takes what an invoice has instead of columns of its own: its id as its number, and its total as its subtotal. */
function takeInvoice({ sources, used, notes, take }: Draft, find: Find, hasItems: boolean): void {
  const [id] = find('external_id')
  if (sources.external_id !== undefined && sources.invoice_number === undefined)
    take('invoice_number', id?.name ?? sources.external_id, id)
  const hasTotal = sources.total_amount !== undefined
  if (!hasItems && sources.tax_amount === undefined && hasTotal) sources.subtotal ??= sources.total_amount
  const [writeOff] = find('write_off')
  if (!writeOff || used.has(writeOff.name)) return
  take('discount_amount', writeOff.name, writeOff)
  // The total of the file is the one before the write-off.
  if (sources.subtotal !== sources.total_amount)
    for (const name of columnOf(sources.total_amount)) used.delete(name)
  delete sources.total_amount
  notes.push(`discount_amount: what "${writeOff.name}" writes off reduces the total of the invoice`)
}

/** Joins columns that tell records apart to their id. */
function joinId({ sources, notes }: Draft, required: readonly string[]): void {
  const parts = required.flatMap((field) => columnOf(sources[field]))
  const names = [...new Set([...parts, ...columnOf(sources.date_of_birth)])]
  if (names.length > 1) sources.external_id = { join: names }
  notes.push(
    names.length > 1
      ? `external_id: no column has ids, so it consists of ${names.join(', ')}. References need the same text`
      : 'external_id: no column found',
  )
}

function suggestion(
  sample: Sample,
  entity: string,
  { ordered, entities, all, earlier, itemFiles }: Context,
): Suggested {
  const { columns, files } = sample
  const find = (field: string) => columnsFor(entity, field, columns, ordered)
  const first = (field: string) => find(field)[0]
  const known = entities.find(({ name }) => name === entity)
  const draft = new Draft(columns)
  const { sources, notes, used, take } = draft
  const [ofItems] =
    entity === 'invoices' ? itemFiles.flatMap((one) => referenceToInvoices(one, [sample]) ?? []) : []
  const idColumn = ofItems?.id ?? first('external_id')
  if (ofItems) take('external_id', ofItems.id.name, ofItems.id)
  // Further rows of an invoice may have no id.
  const isOnEachRow = !columns.some(({ values }) => values.length > (idColumn?.values.length ?? 0))
  const hasOwnRow = (idColumn?.isUnique ?? false) && isOnEachRow
  const items = entity === 'invoices' ? lineItemsOf(columns, hasOwnRow, invoiceColumns(ordered)) : undefined
  const hasItems = items !== undefined
  const isItemized = hasItems && !Array.isArray(items)
  const allItems = [items ?? []].flat()
  for (const name of allItems.flatMap((item) => Object.values(item))) used.add(name)

  if (entity === 'patients') takeNames(find, take, ordered, notes)
  if (entity === 'appointments') takeTimes(columns, find, take)
  const fields = ['external_id', ...(known?.columns ?? [])].filter(
    (field) =>
      !['line_items', 'full_name'].includes(field) || (entity === 'doctors' && field === 'full_name'),
  )
  // The amounts of an invoice follow from the line items in its rows.
  const wanted = fields
    .filter((field) => !isItemized || !AMOUNTS.includes(field))
    // A column that may be either is the total.
    .toSorted((a, b) => Number(b === 'total_amount') - Number(a === 'total_amount'))
  if (entity === 'patients') takePhones(columns, find('phone_number'), take)
  takeFields(draft, entity, wanted, { ordered, earlier, own: idColumn })
  const partial = files.filter((file) => idColumn && !idColumn.files.includes(file))
  if (partial.length > 0)
    notes.push(
      `${partial.map((file) => basename(file)).join(', ')} has no ${JSON.stringify(idColumn?.name)}: leave the file out, or join it to the other in a spreadsheet`,
    )
  // Amounts next to line items are those of the items.
  if (entity === 'invoices')
    takeInvoice(draft, (field) => (isItemized && field === 'write_off' ? [] : find(field)), hasItems)
  if (sources.external_id === undefined) joinId(draft, known?.required ?? [])
  const isGrouped = ['doctors', 'patients'].includes(entity) && idColumn !== undefined && !idColumn.isUnique
  const formats = guessFormats(
    columns,
    [
      ...AMOUNTS.flatMap((field) => find(field)),
      ...columns.filter(({ name }) => allItems.some(({ unit_price }) => unit_price === name)),
    ],
    all.columns,
  )
  notes.push(...missingNotes(known, sources, hasItems), ...formatNotes(formats))
  if (allItems.some(({ tax_rate }) => tax_rate !== undefined))
    notes.push('line_items: if the prices include the tax, remove tax_rate')
  const values = Object.fromEntries(
    CODES.flatMap((field) => {
      const column = columns.find(({ name }) => name === sources[field])
      const meanings = column && meaningsOf(entity, field, column, ordered, notes)
      return meanings && Object.keys(meanings).length > 0 ? [[field, meanings]] : []
    }),
  )
  const ignore = draft.open.map(({ name }) => name)
  if (ignore.length > 0) notes.push(`not imported: ${ignore.join(', ')}`)
  const titles = titlesOf(sources, columns, ordered)
  const optional = ['phone_number', 'email_address', 'date_of_birth', 'national_id']
  const isFamiliar = ordered[0] !== undefined && familiarity(ordered[0], all) >= MIN_FAMILIAR
  const countries = ordered.find(
    (language, at) => (isFamiliar && at === 0) || language.tag === 'en',
  )?.countries
  const country = countryOf(
    columns.filter(({ name }) => columnOf(sources.phone_number).includes(name)),
    countries ?? [],
  )
  const isPatients = entity === 'patients'
  const map = {
    ...sourceOf(sample),
    ...(files.every((file) => plain(stemOf(file)).startsWith(plain(entity))) && { file: undefined }),
    ...(formats.dates.length > 0 && { dates: formats.dates }),
    ...(formats.dates.some((format) => format.includes('MMM')) && { language: ordered[0]?.tag }),
    ...(formats.times.length > 0 && { times: formats.times }),
    ...(formats.decimal && { decimal: formats.decimal }),
    ...(isPatients && sources.phone_number !== undefined && country !== undefined && { country }),
    ...(titles.length > 0 && { titles }),
    ...(isGrouped && { group: true }),
    columns: sources,
    ...(hasItems && { line_items: items }),
    ...(Object.keys(values).length > 0 && { values }),
    ...(isPatients && { optional: optional.filter((field) => field in sources) }),
    ...(ignore.length > 0 && { ignore }),
  }
  if (isPatients && sources.phone_number !== undefined)
    notes.push(
      `country: ${country ?? 'none found'}; check it, phone numbers without a country code depend on it`,
    )
  if (sample.encodings.size > 1)
    notes.push('encoding: differs between the files; add --encoding FILE=NAME for each')
  return { sample, files, entity, map, notes }
}

const invoiceColumns =
  (languages: readonly Language[]): FindColumns =>
  (field, columns) =>
    columnsFor('invoices', field, columns, languages)

/** The length of values that are not those of another column by chance, such as quantities. */
const MIN_LENGTH = 4

/**
 * The columns with the records that rows refer to. One whose values name records in a column of their own file comes first: names of
 * persons are less sure than their ids.
 * @param own the ids of the rows themselves
 */
function referring(
  field: string,
  named: readonly Column[],
  { columns, own }: { readonly columns: readonly Column[]; readonly own: Column | undefined },
  earlier: readonly Suggested[],
): readonly Column[] {
  const target = earlier.find((one) => field === `${one.entity.slice(0, -1)}_external_id`)
  if (!target) return named
  const [id] = columnOf(target.map.columns.external_id).map(plain)
  const same = columns.filter(({ name }) => plain(name) === id)
  const others = columns.filter((one) => one !== own && one.values.every((text) => text.length >= MIN_LENGTH))
  const found = [[...named, ...same], others].flatMap(
    (some) => referenceTo([target.sample], some)?.column ?? [],
  )
  return [...new Set([...found, ...named, ...same])]
}

/** The line items of a file of invoices: of each row, or of several columns of a row. */
function lineItemsOf(
  columns: readonly Column[],
  hasOwnRow: boolean,
  find: FindColumns,
): ItemColumns | readonly ItemColumns[] | undefined {
  const several = numberedItems(columns, find)
  if (several.length > 0) return several
  return hasOwnRow ? undefined : itemColumns(columns, find)
}

/** The map of a file with line items of the invoices in other files. */
function itemsSuggestion(
  sample: Sample,
  invoices: readonly Sample[],
  languages: readonly Language[],
): Suggested {
  const { files, columns } = sample
  const { column } = referenceToInvoices(sample, invoices) ?? {}
  const items = itemColumns(
    columns.filter((one) => one !== column),
    invoiceColumns(languages),
  )
  const used = new Set([column?.name, ...Object.values(items ?? {})])
  const ignore = columns.filter(({ name }) => !used.has(name)).map(({ name }) => name)
  const prices = columns.filter(({ name }) => [items?.unit_price, items?.quantity].includes(name))
  const { decimal } = guessFormats(columns, prices, columns)
  const map = {
    ...sourceOf(sample),
    ...(decimal && { decimal }),
    columns: { external_id: column?.name },
    line_items: items,
    ...(ignore.length > 0 && { ignore }),
  }
  const notes = ignore.length > 0 ? [`not imported: ${ignore.join(', ')}`] : []
  if (items?.tax_rate !== undefined) notes.push('line_items: if the prices include the tax, remove tax_rate')
  return { sample, files, entity: LINE_ITEMS.name, map, notes }
}

/** Lets a file name the records by what other files name them by, where that is not their id. */
function addAliases({ sample, entity, map, notes }: Suggested, others: readonly Suggested[]): void {
  const field = `${entity.slice(0, -1)}_external_id`
  const texts = new Set(
    others.flatMap((other) =>
      columnOf(other.map.columns[field]).flatMap((name) =>
        other.sample.columns.filter((column) => column.name === name).flatMap(({ values }) => values),
      ),
    ),
  )
  if (texts.size === 0 || sample.rows.length >= MAX_ROWS) return
  const { external_id, first_name, last_name, date_of_birth } = map.columns
  const [first, last, born] = [first_name, last_name, date_of_birth].map((source) => columnOf(source)[0])
  const names = first === last ? { whole: first, born } : { first, last, born }
  const { aliases, unknown } = aliasesOf(sample, { join: columnOf(external_id) }, names, texts)
  if (aliases.length > 0) map.aliases = aliases
  if (unknown > texts.size * MAX_UNKNOWN)
    notes.push(
      `${field}: ${unknown} of ${texts.size} in the other files are none of these ${entity}; see aliases`,
    )
}

function takeTimes(columns: readonly Column[], find: Find, take: Take): void {
  const [date] = [...find('start'), ...find('appointment_date'), ...find('start_time')].filter(isDate)
  const start = [...find('start_time'), ...find('start')].find((one) => isTime(one) || isDateTime(one))
  const end = find('end_time').find((column) => isTime(column) || isDateTime(column))
  const [duration] = find('duration').filter((column) => column !== end)
  if (date) take('appointment_date', { column: date.name, part: 'date' }, date)
  const timed = date && isDateTime(date) ? date : start
  if (timed) take('start_time', { column: timed.name, part: 'time' }, timed)
  const range = columns.find(isTimeRange)
  if (range && !timed) {
    take('start_time', { column: range.name, match: String.raw`^[\d:.]+` }, range)
    take('end_time', { column: range.name, match: String.raw`[\d:.]+$` }, range)
  } else if (end && end !== timed) take('end_time', { column: end.name, part: 'time' }, end)
  else if (duration) take('end_time', { minutes: duration.name }, duration)
}

function missingNotes(
  known: Entity | undefined,
  sources: { readonly [field: string]: unknown },
  hasItems: boolean,
): string[] {
  const missing = (known?.required ?? []).filter((field) => !(field in sources))
  const amount = known?.name === 'invoices' && !hasItems && !('subtotal' in sources) ? ['subtotal'] : []
  return [...missing, ...amount].map((field) => `${field}: no column found; add it to columns or constants`)
}

const formatNotes = ({ dates, isSure }: Formats): string[] =>
  isSure ? [] : [`dates: ${dates.join(', ')}; no date says whether the day or the month is first`]

type Meanings = { readonly [text: string]: string | boolean }

/** Whether most values of a column are words of a field. */
function hasWordsOf(
  entity: string,
  field: string,
  { distinct }: Column,
  languages: readonly Language[],
): boolean {
  const words = wordsOf(entity, field, languages)
  const known = [...(distinct ?? [])].filter((text) => words.has(plain(text)))
  return known.length > 0 && known.length * 2 > (distinct?.size ?? 0)
}

/** What the words of a column mean; {@link UNKNOWN} for unknown ones, which are noted. */
function meaningsOf(
  entity: string,
  field: string,
  { name, distinct }: Column,
  languages: readonly Language[],
  notes: string[],
): Meanings {
  if (!distinct) {
    notes.push(`${field}: ${JSON.stringify(name)} has many different values`)
    return {}
  }
  const words = wordsOf(entity, field, languages)
  const codes = new Set(words.values())
  const present = new Set([...distinct].map(plain))
  const meanings: { [text: string]: string | boolean } = {}
  for (const given of distinct) {
    const text = given.toLowerCase()
    if (codes.has(foldedName(text)) || (field === 'is_active' && /^(yes|no|true|false|[01])$/i.test(text)))
      continue
    const meaning = words.get(plain(text))
    // Hombre and mujer, homme and femme: H and M, or M and F.
    meanings[text] =
      field === 'gender' && plain(text) === 'm' && present.has('h') ? 'female' : (meaning ?? UNKNOWN)
  }
  const open = Object.keys(meanings).filter((text) => meanings[text] === UNKNOWN)
  if (open.length > 0) notes.push(`values.${field}: replace "${UNKNOWN}" for ${open.join(', ')}`)
  return meanings
}
