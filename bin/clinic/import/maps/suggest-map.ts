/** Suggests a map for files of an unknown system, from the names and values of their columns. It is to be edited. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { foldedName } from '../files/field-names.ts'
import { readColumnMap } from './column-map.ts'
import {
  countryOf,
  type Formats,
  guessFormats,
  isDate,
  isDateTime,
  isEmail,
  isPhone,
  isTime,
  isWholeName,
} from './guess-formats.ts'
import type { Column, Sample } from './read-samples.ts'

type Entity = {
  readonly name: string
  readonly columns: readonly string[]
  readonly required: readonly string[]
}

type Names = { readonly [field: string]: readonly string[] }

/** Names and words of a language: of files and columns by entity, and of values by field. */
type Language = {
  readonly tag: string
  readonly country?: string
  readonly titles?: readonly string[]
  readonly files?: Names
  readonly values?: { readonly [field: string]: { readonly [text: string]: string | boolean } }
} & { readonly [entity: string]: Names | undefined }

/** The map of an entity, and what the operator has to know about it. */
export type Suggestion = {
  readonly file: string
  readonly entity: string
  readonly map: object
  readonly notes: readonly string[]
}

const SHIPPED = { turkish: 'tr', german: 'de', cliniko: 'en' } as const

const ENTITIES = ['doctors', 'treatments', 'patients', 'appointments', 'invoices', 'payments']

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

/** Names of columns with numbers that can receive SMS. */
const MOBILE = /mob|móvil|movil|cel|handy|gsm|cep|portable|telem|kom/i

/** What a column without a known name contains. */
const CONTENT: { readonly [field: string]: (column: Column, all: readonly Column[]) => boolean } = {
  email_address: isEmail,
  date_of_birth: (column, all) => isDate(column) && all.filter(isDate).length === 1,
  external_id: (column, [first]) =>
    column === first &&
    column.isUnique &&
    !isDate(column) &&
    column.values.every((text) => /^\S*\d\S*$/.test(text)),
}

/** The meaning of an unknown word: an import rejects it, with the field. */
const UNKNOWN = '?'

function readLanguages(entities: readonly Entity[]): ReadonlyMap<string, Language> {
  const languages = new Map<string, Language>(
    Object.entries(JSON.parse(readFileSync(join(import.meta.dirname, 'known-names.json'), 'utf8'))).map(
      ([tag, language]) => [tag, { ...(language as object), tag } as Language],
    ),
  )
  for (const [map, tag] of Object.entries(SHIPPED)) {
    const language = { ...languages.get(tag) } as { [entity: string]: unknown }
    const values: { [field: string]: object } = { ...(language.values as object) }
    for (const [entity, { columns, values: texts }] of Object.entries(
      readColumnMap(map, entities).entities,
    )) {
      const known = language[entity] as Names | undefined
      const names = Object.entries(columns).flatMap(([field, source]) =>
        'column' in source ? [[field, [...source.column, ...(known?.[field] ?? [])]]] : [],
      )
      language[entity] = { ...known, ...Object.fromEntries(names) }
      for (const [field, meanings] of Object.entries(texts)) {
        const name = valueField(entity, field)
        values[name] = { ...meanings, ...values[name] }
      }
    }
    languages.set(tag, { ...language, values } as Language)
  }
  return languages
}

/** Statuses of invoices have words of their own. */
const valueField = (entity: string, field: string): string =>
  entity === 'invoices' && field === 'status' ? 'invoices.status' : field

/** A name without accents, signs and spaces. */
const plain = (name: string): string =>
  foldedName(name)
    .normalize('NFD')
    .replace(/ł/g, 'l')
    .replace(/ß/g, 'ss')
    .replace(/[^\p{L}\p{N}%#]/gu, '')

/** @param wanted the entity of all files, if the operator has said so */
export function suggestMaps(
  samples: readonly Sample[],
  entities: readonly Entity[],
  wanted: string | undefined,
): Suggestion[] {
  const languages = readLanguages(entities)
  const given = samples.map((sample) => {
    const ordered = [...languages.values()].sort((a, b) => familiarity(b, sample) - familiarity(a, sample))
    const entity = wanted ?? entityOf(sample, ordered)
    return { sample, ordered, entity }
  })
  const all = samples.flatMap(({ columns }) => columns)
  const suggestions = given.map(({ sample, ordered, entity }) => {
    const one = suggestion(sample, entity, ordered, entities, all)
    const same = given.filter((other) => other.entity === entity).map((other) => basename(other.sample.file))
    const note = `several files of ${entity}: ${same.join(', ')}. The map has the columns of the last`
    return same.length > 1 ? { ...one, notes: [note, ...one.notes] } : one
  })
  const visits = given.find(({ entity }) => entity === 'appointments')
  if (wanted !== undefined || !visits || given.some(({ entity }) => entity === 'doctors')) return suggestions
  const [doctor] = columnsFor('appointments', 'doctor_external_id', visits.sample.columns, visits.ordered)
  if (!doctor) return suggestions
  const { file, format } = visits.sample
  const doctors = {
    file: stemOf(file),
    encoding: format.encoding,
    group: true,
    columns: { external_id: doctor.name, full_name: doctor.name },
    ignore: 'others',
  }
  const notes = [`no file of doctors: each ${JSON.stringify(doctor.name)} of the appointments becomes one`]
  return [{ file, entity: 'doctors', map: doctors, notes }, ...suggestions]
}

const stemOf = (file: string): string => basename(file).replace(/\.\w+$/, '')

/** How many columns of a file have names of a language. */
function familiarity(language: Language, { columns }: Sample): number {
  const names = new Set(
    ENTITIES.flatMap((entity) => Object.values(language[entity] ?? {}).flat()).map((name) => plain(name)),
  )
  return columns.filter(({ name }) => names.has(plain(name))).length
}

/** The entity whose name the file has, or whose columns. */
function entityOf(sample: Sample, languages: readonly Language[]): string {
  const stem = plain(stemOf(sample.file))
  const named = ENTITIES.filter((entity) =>
    [entity, ...languages.flatMap(({ files }) => files?.[entity] ?? [])].some((name) =>
      stem.startsWith(plain(name)),
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

/** The columns that have a name of a field, in the order of the names. */
function columnsFor(
  entity: string,
  field: string,
  columns: readonly Column[],
  languages: readonly Language[],
): Column[] {
  const names = languages.flatMap((language) => language[entity]?.[field] ?? []).map(plain)
  const all = [plain(field), ...names]
  const found = all.flatMap((name) => columns.filter((column) => plain(column.name) === name))
  if (found.length > 0) return [...new Set(found)]
  const long = all.filter((name) => name.length >= 6)
  return columns.filter(({ name }) => long.some((known) => plain(name).startsWith(known)))
}

function suggestion(
  sample: Sample,
  entity: string,
  ordered: readonly Language[],
  entities: readonly Entity[],
  all: readonly Column[],
): Suggestion {
  const { columns, file, format } = sample
  const find = (field: string) => columnsFor(entity, field, columns, ordered)
  const first = (field: string) => find(field)[0]
  const known = entities.find(({ name }) => name === entity)
  const sources: { [field: string]: unknown } = {}
  const notes: string[] = []
  const used = new Set<string>()
  const take = (field: string, source: unknown, ...from: readonly (Column | undefined)[]): void => {
    sources[field] = source
    for (const column of from) if (column) used.add(column.name)
  }
  const items: { [field: string]: string } = {}
  const idColumn = first('external_id')
  // Further rows of an invoice may have no id.
  const isOnEachRow = !columns.some(({ values }) => values.length > (idColumn?.values.length ?? 0))
  if (entity === 'invoices' && !(idColumn?.isUnique && isOnEachRow))
    for (const field of ['description', 'quantity', 'unit_price', 'tax_rate']) {
      const column = first(`item.${field}`)
      if (column) items[field] = column.name
    }
  const hasItems = items.description !== undefined && items.unit_price !== undefined
  for (const name of hasItems ? Object.values(items) : []) used.add(name)

  if (entity === 'patients') takeNames(find, take)
  if (entity === 'appointments') takeTimes(find, take)
  for (const field of ['external_id', ...(known?.columns ?? [])]) {
    if (
      field in sources ||
      ['line_items', 'full_name'].includes(field) !== (entity === 'doctors' && field === 'full_name')
    )
      continue
    const isName = /_external_id$|^external_id$|^invoice_number$/.test(field)
    const found = find(field).filter(({ name }) => isName || !used.has(name))
    if (field === 'phone_number') {
      const phones = (found.length > 0 ? found : columns.filter(isPhone)).toSorted(
        (a, b) => Number(MOBILE.test(b.name)) - Number(MOBILE.test(a.name)),
      )
      if (phones.length > 0)
        take(field, phones.length > 1 ? phones.map(({ name }) => name) : phones[0]?.name, ...phones)
      continue
    }
    const byContent = columns.find((one) => !used.has(one.name) && CONTENT[field]?.(one, columns))
    const [column = byContent] = found
    if (!column) continue
    // The amounts of an invoice follow from its line items.
    if (hasItems && AMOUNTS.includes(field)) continue
    const part = field.endsWith('_date') && isDateTime(column) ? 'date' : undefined
    take(field, part ? { column: column.name, part } : column.name, column)
  }
  if (entity === 'invoices') {
    if (sources.external_id !== undefined) sources.invoice_number ??= sources.external_id
    if (
      !hasItems &&
      sources.subtotal === undefined &&
      sources.total_amount !== undefined &&
      sources.tax_amount === undefined
    )
      sources.subtotal = sources.total_amount
  }
  if (sources.external_id === undefined) {
    const parts = (known?.required ?? []).flatMap((field) => columnOf(sources[field]))
    const birth = columnOf(sources.date_of_birth)
    const names = [...new Set([...parts, ...birth])]
    if (names.length > 1) sources.external_id = { join: names }
    notes.push(
      names.length > 1
        ? `external_id: no column has ids, so it consists of ${names.join(', ')}. References need the same text`
        : 'external_id: no column found',
    )
  }
  const isGrouped = ['doctors', 'patients'].includes(entity) && idColumn !== undefined && !idColumn.isUnique
  const formats = guessFormats(
    columns,
    AMOUNTS.flatMap((field) => find(field)),
    all,
  )
  notes.push(...missingNotes(known, sources, hasItems), ...formatNotes(formats))
  if (items.tax_rate !== undefined && hasItems)
    notes.push('line_items: if the prices include the tax, remove tax_rate')
  const values = Object.fromEntries(
    CODES.flatMap((field) => {
      const column = columns.find(({ name }) => name === sources[field])
      const meanings = column && meaningsOf(entity, field, column, ordered, notes)
      return meanings && Object.keys(meanings).length > 0 ? [[field, meanings]] : []
    }),
  )
  const ignore = columns.filter(({ name }) => !used.has(name)).map(({ name }) => name)
  if (ignore.length > 0) notes.push(`not imported: ${ignore.join(', ')}`)
  const titles = titlesOf(sources, columns, ordered)
  const optional = ['phone_number', 'email_address', 'date_of_birth', 'national_id']
  const isFamiliar = ordered[0] !== undefined && familiarity(ordered[0], sample) >= MIN_FAMILIAR
  const country = (isFamiliar ? ordered[0]?.country : undefined) ?? countryOf(columns)
  const isPatients = entity === 'patients'
  const map = {
    ...(plain(stemOf(file)).startsWith(plain(entity)) ? {} : { file: stemOf(file) }),
    encoding: format.encoding,
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
  return { file, entity, map, notes }
}

type Find = (field: string) => readonly Column[]
type Take = (field: string, source: unknown, ...from: readonly (Column | undefined)[]) => void

function takeNames(find: Find, take: Take): void {
  const [given] = find('first_name')
  const [family] = find('last_name').filter((column) => column !== given)
  const [whole] = [...find('name'), given, family].filter((column) => column && isWholeName(column))
  if (given && family && given !== family) {
    const joined = (one: Column, [other]: readonly Column[]) =>
      other && other !== one ? { join: [one.name, other.name] } : one.name
    take('first_name', joined(given, find('middle_name')), given, find('middle_name')[0])
    take('last_name', joined(family, find('second_last_name')), family, find('second_last_name')[0])
    return
  }
  if (!whole) return
  take('first_name', { column: whole.name, part: 'first_names' }, whole)
  take('last_name', { column: whole.name, part: 'last_name' }, whole)
}

function takeTimes(find: Find, take: Take): void {
  const [date] = [...find('start'), ...find('appointment_date'), ...find('start_time')].filter(isDate)
  const start = [...find('start_time'), ...find('start')].find((one) => isTime(one) || isDateTime(one))
  const end = find('end_time').find((column) => isTime(column) || isDateTime(column))
  const [duration] = find('duration').filter((column) => column !== end)
  if (date) take('appointment_date', { column: date.name, part: 'date' }, date)
  const timed = date && isDateTime(date) ? date : start
  if (timed) take('start_time', { column: timed.name, part: 'time' }, timed)
  if (end && end !== timed) take('end_time', { column: end.name, part: 'time' }, end)
  else if (duration) take('end_time', { minutes: duration.name }, duration)
}

/** The columns of a source. */
const columnOf = (source: unknown): string[] => {
  if (typeof source === 'string') return [source]
  const { column, join: joined } = (source ?? {}) as { column?: string; join?: string[] }
  return joined ?? (column === undefined ? [] : [column])
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
  const names = [valueField(entity, field), field]
  const tables: Meanings[] = languages.flatMap(({ values }) =>
    names.map((one) => values?.[one]).filter((table) => table !== undefined),
  )
  const codes = new Set(tables.flatMap((table) => Object.values(table)))
  const present = new Set([...distinct].map(plain))
  const meanings: { [text: string]: string | boolean } = {}
  for (const given of distinct) {
    const text = given.toLowerCase()
    if (codes.has(foldedName(text)) || (field === 'is_active' && /^(yes|no|true|false|[01])$/i.test(text)))
      continue
    const meaning = tables
      .flatMap((table) => Object.entries(table))
      .find(([word]) => plain(word) === plain(text))?.[1]
    // Hombre and mujer, homme and femme: H and M, or M and F.
    meanings[text] =
      field === 'gender' && plain(text) === 'm' && present.has('h') ? 'female' : (meaning ?? UNKNOWN)
  }
  const open = Object.keys(meanings).filter((text) => meanings[text] === UNKNOWN)
  if (open.length > 0) notes.push(`values.${field}: replace "${UNKNOWN}" for ${open.join(', ')}`)
  return meanings
}

/** The titles that names of a file begin with. */
function titlesOf(
  { first_name, last_name }: { readonly [field: string]: unknown },
  columns: readonly Column[],
  languages: readonly Language[],
): string[] {
  const names = [...columnOf(first_name), ...columnOf(last_name)]
  const texts = columns.filter(({ name }) => names.includes(name)).flatMap(({ values }) => values)
  const words = new Set(
    texts.flatMap((text) => text.split(/[\s,]+/).slice(0, -1)).map((word) => word.toLowerCase()),
  )
  const known = new Map(languages.flatMap(({ titles = [] }) => titles.map((one) => [one.toLowerCase(), one])))
  return [...known.values()].filter((title) =>
    title.split(' ').every((word) => words.has(word.toLowerCase())),
  )
}
