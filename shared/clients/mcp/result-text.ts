/** Responses as text for a model: no value twice, and no fields without one. Structured content has the whole body. */

type Fields = Readonly<Record<string, unknown>>
/** The body of a success, empty for a deletion. */
export type Body = Fields & { readonly data?: unknown; readonly meta?: Fields }
type Slot = { date?: string; start_time: string; end_time: string; doctor?: Fields }

/** A line for each record of a list, or for each field of a record. */
export function resultText({ data, meta = {}, ...others }: Body): string {
  if (!Array.isArray(data)) {
    const fields = Object.entries(withoutRepetition({ ...others, ...(data as Fields), ...meta }))
    return fields.map(([name, value]) => `${name}: ${inline(value)}`).join('\n') || 'Done.'
  }
  const { has_more, next_after, ...totals } = meta
  const isAvailability = 'duration_minutes' in meta
  const lines = isAvailability ? slotLines(data, meta) : table(data)
  const rest = isAvailability
    ? (has_more && 'More are free: ask with a later date, or a larger limit.') || ''
    : pairs('page' in meta ? totals : { ...totals, has_more, next_after })
  return [...(data.length > 0 ? lines : ['None.']), rest].join('\n').trim()
}

/** A line for each day of a doctor: `2026-12-02 Dr. Emre Koç (id): 09:00-09:30, 09:30-10:00`. */
function slotLines(slots: readonly Slot[], meta: Fields): string[] {
  const days = new Map<string, string[]>()
  for (const slot of slots) {
    const day = [slot.date ?? meta.date, inline(slot.doctor)].join(' ').trim()
    days.set(day, [...(days.get(day) ?? []), `${slot.start_time}-${slot.end_time}`])
  }
  return [...days].map(([day, times]) => `${day}: ${times.join(', ')}`)
}

/** The values that all records have, the names of the columns, and a line for each record. Parts without a name are counted. */
function table(records: readonly Fields[]): string[] {
  const rows = records.map((record) => {
    const fields = Object.entries(withoutRepetition(record))
    return new Map(
      fields.map(([name, value]) => [name, isListOfParts(value) ? `${value.length}` : inline(value)]),
    )
  })
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))]
  const valuesOf = (name: string) => new Set(rows.map((row) => row.get(name)))
  const columns = names.filter((name) => rows.length === 1 || valuesOf(name).size > 1)
  const common = names
    .filter((name) => !columns.includes(name))
    .map((name) => `${name} ${rows[0]?.get(name)}`)
  return [
    ...(common.length > 0 ? [`all: ${common.join(', ')}`] : []),
    columns.join(' | '),
    ...rows.map((row) => columns.map((name) => row.get(name) ?? '').join(' | ')),
  ]
}

const isListOfParts = (value: unknown): value is Fields[] =>
  Array.isArray(value) && value.some((one) => isRecord(one) && 'id' in one && !('name' in one))

/** Without empty fields, the parts of a full name, and what a nested record has in common with its record. */
function withoutRepetition(record: Fields, parent: Fields = {}): Fields {
  const fields = Object.entries(record).filter(
    ([name, value]) =>
      inline(value) !== '' &&
      !(name in parent && inline(parent[name]) === inline(value)) &&
      !(/^(first|last)_name$/.test(name) && 'full_name' in record),
  )
  return Object.fromEntries(
    fields.map(([name, value]) => [
      name,
      Array.isArray(value)
        ? value.map((one) => (isRecord(one) ? withoutRepetition(one, record) : one))
        : value,
    ]),
  )
}

function inline(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(inline).filter(Boolean).join('; ')
  // Texts that other people wrote must not look like further lines or columns.
  if (!isRecord(value)) return /[\n|]/.test(String(value)) ? JSON.stringify(value) : String(value)
  const { id, full_name, name = full_name, ...others } = value
  if (name !== undefined) return `${inline(name)} (${[id, pairs(others)].filter(Boolean).join(', ')})`
  const { start_time, end_time, ...rest } = others
  if (id === undefined && start_time !== undefined) return `${start_time}-${end_time} ${pairs(rest)}`.trim()
  const text = pairs(others)
  return text ? `{${text}}` : inline(id)
}

const pairs = (record: Fields): string =>
  Object.entries(record)
    .map(([name, value]) => [name, inline(value)] as const)
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `${name} ${text}`)
    .join(', ')

const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
