/** Values for parameters and fields, by their schemas: at, over and far past their limits, and of every wrong type. */

export type ValueSchema = {
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly items?: ValueSchema
  readonly anyOf?: readonly ValueSchema[]
}

/** `fits`: it must not be refused. `wrong`: it must be. `open`: either, but never with a 5xx. */
export type Verdict = 'fits' | 'wrong' | 'open'
export type Tried<T> = { readonly value: T; readonly verdict: Verdict }

const each = <T>(verdict: Verdict, ...values: readonly T[]): Tried<T>[] =>
  values.map((value) => ({ value, verdict }))

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'

const DATES = each('fits', '2026-02-28', '2000-02-29', '2100-12-31')
const NO_DATES = each(
  'wrong',
  ...['2026-02-30', '2025-02-29', '2026-13-01', '2026-2-3', '20260203', '2026-02-03T00:00:00Z', 'today'],
  ...['-0001-01-01', '10000-01-01', '2026-02-03 ', '２０２６-02-03'],
)
const NO_IDS = each(
  'wrong',
  ...[
    'x',
    '1',
    `${UNKNOWN_ID}0`,
    UNKNOWN_ID.replaceAll('-', ''),
    `{${UNKNOWN_ID}}`,
    `urn:uuid:${UNKNOWN_ID}`,
  ],
)
const NO_NUMBERS = [
  '1.5',
  '1e1',
  '+1',
  '01',
  '0x10',
  ' 1',
  'abc',
  '',
  'NaN',
  '-1',
  '１',
  '[]',
  '9'.repeat(400),
]

/** Text that breaks things: quotes, controls, halves of characters, other scripts, names of object members. */
const STRANGE = [
  ...[
    "'; DROP TABLE patients; --",
    '"',
    '\\',
    '../../etc/passwd',
    '<script>',
    '{{7*7}}',
    '%s%n',
    '\u202Eabc',
  ],
  ...[
    '\u0000',
    'a\u0007b',
    '\u2028',
    '\uFFFD',
    '👩‍👩‍👧',
    'ﷺ',
    '__proto__',
    'constructor',
    'null',
    'undefined',
  ],
]

/** Texts for a query parameter, before they are encoded. */
export function parameterValues(schema: ValueSchema): Tried<string>[] {
  const { type, format, minimum = 0, maximum = 0 } = schema
  if (type === 'integer')
    return [
      ...each('fits', String(minimum), String(maximum)),
      ...each('wrong', ...[minimum - 1, maximum + 1, maximum * 1000].map(String), ...NO_NUMBERS),
    ]
  if (schema.enum)
    return [...each('fits', ...schema.enum), ...each('wrong', 'nonsense', '', ...schema.enum.map(capital))]
  if (format === 'uuid')
    return [...each('fits', UNKNOWN_ID, UNKNOWN_ID.toUpperCase()), ...each('wrong', ''), ...NO_IDS]
  if (format === 'date')
    return [...DATES, ...each('open', '0000-01-01', '9999-12-31'), ...each('wrong', ''), ...NO_DATES]
  return [...textLengths(schema), ...each('open', ...STRANGE), ...patternBreakers(schema)]
}

const capital = (text: string) => text.toUpperCase()

function patternBreakers({ pattern }: ValueSchema): Tried<string>[] {
  if (pattern === undefined) return []
  const known = new RegExp(pattern, 'u')
  return each('wrong', ...['!', '', 'a'.repeat(65), ...STRANGE].filter((text) => !known.test(text)))
}

/** Lengths at, over and far past the limits; characters outside the basic plane count once. */
function textLengths({ minLength, maxLength }: ValueSchema, from = ''): Tried<string>[] {
  const filled = (length: number, filler = 'a') =>
    from.length >= length ? filler.repeat(length) : from + filler.repeat(length - from.length)
  const most = maxLength ?? 0
  return [
    ...(minLength ? each('wrong', filled(minLength - 1)) : []),
    ...(most > 0
      ? [...each('fits', filled(most)), ...each('wrong', filled(most + 1), filled(most * 10))]
      : each('open', 'a', 'a'.repeat(5000))),
    ...(most > 0 ? each('open', filled(most, '𝄞'), filled(most + 1, '𝄞')) : []),
  ]
}

/** JSON of every type that there is, for a field that may take one or two of them. */
const ANY_JSON: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, 1e16, '', ' ', 'x', '1', '\ud800', [], ['x']],
  ...[[[]], [null], {}, { a: 1 }, { toString: 'x' }, { length: 1 }],
]

/** Values for a field of a body, `from` being one that is right. Whether they are is for the document to say. */
export function fieldValues(schema: ValueSchema, from: unknown): unknown[] {
  const kinds = schema.anyOf ?? [schema]
  return [...ANY_JSON, ...STRANGE, ...kinds.flatMap((kind) => kindValues(kind, from))]
}

function kindValues({ type, format, items, ...schema }: ValueSchema, from: unknown): unknown[] {
  if (schema.enum) return [...schema.enum, ...schema.enum.map(capital)]
  if (type === 'integer' || type === 'number') {
    const { minimum = 0, maximum = 0 } = schema
    return [minimum, maximum, minimum - 1, maximum + 1, maximum * 1000, minimum + 0.5, String(minimum)]
  }
  if (type === 'array') {
    const all = items?.enum ?? []
    return [[...all], [all[0], all[0]], [...all, 'nonsense'], Array(1000).fill(all[0]), { ...all }]
  }
  if (format === 'uuid') return [UNKNOWN_ID, ...NO_IDS.map(({ value }) => value)]
  if (format === 'date')
    return [...DATES, ...NO_DATES].map(({ value }) => value).concat('0000-01-01', '9999-12-31')
  if (type === 'string')
    return [
      ...textLengths(schema, typeof from === 'string' ? from : '').map(({ value }) => value),
      ...[
        '24:00',
        '23:59',
        '9:00',
        '00:00',
        '+1',
        '+999999999999999',
        '@',
        'a@b',
        '//',
        'http://',
        'https://a',
      ],
    ]
  return []
}

/** Whether a value is exactly as long, or as large, as the schema lets it be: then nothing else can be wrong with it. */
export function isAtLimit(schema: ValueSchema, value: unknown): boolean {
  const kinds = schema.anyOf ?? [schema]
  return kinds.some(({ type, minimum, maximum, maxLength }) => {
    if (type === 'integer') return value === minimum || value === maximum
    return (
      type === 'string' && typeof value === 'string' && /^[ -~]+$/.test(value) && value.length === maxLength
    )
  })
}
