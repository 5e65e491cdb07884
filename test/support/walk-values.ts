/** Test values for parameters and fields by their schemas: at, over and far past the limits, and of every wrong type. */

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

/** `fits`: must be accepted. `wrong`: must be rejected. `open`: either, but never a 5xx. */
export type Verdict = 'fits' | 'wrong' | 'open'
export type TestValue<T> = { readonly value: T; readonly verdict: Verdict }

const withVerdict = <T>(verdict: Verdict, ...values: readonly T[]): TestValue<T>[] =>
  values.map((value) => ({ value, verdict }))

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'

const DATES = withVerdict('fits', '2026-02-28', '2000-02-29')
const INVALID_DATES = withVerdict(
  'wrong',
  ...['2026-02-30', '2025-02-29', '2026-13-01', '2026-2-3', '20260203', '2026-02-03T00:00:00Z', 'today'],
  ...['-0001-01-01', '0000-02-29', '10000-01-01', '2026-02-03 ', '２０２６-02-03'],
)
const MALFORMED_IDS = withVerdict(
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
const INVALID_NUMBERS = [
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

/** Text that often breaks programs: quotes, control characters, lone surrogates, other scripts, object members. */
const HOSTILE_STRINGS = [
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

/** Unencoded values for a query parameter. */
export function parameterValues(schema: ValueSchema): TestValue<string>[] {
  const { type, format, pattern = '', minimum = 0, maximum = 0 } = schema
  // Some of a set of values, separated by commas.
  const listed = /^\^\(([a-z_|]+)\)\(,/.exec(pattern)?.[1]?.split('|')
  if (type === 'integer')
    return [
      ...withVerdict('fits', String(minimum), String(maximum)),
      ...withVerdict('wrong', ...[minimum - 1, maximum + 1, maximum * 1000].map(String), ...INVALID_NUMBERS),
    ]
  if (type === 'boolean')
    return [
      ...withVerdict('fits', 'true', 'false'),
      ...withVerdict('wrong', 'TRUE', '1', 'yes', '', 'null', ' true'),
    ]
  if (schema.enum)
    return [
      ...withVerdict('fits', ...schema.enum),
      ...withVerdict('wrong', 'nonsense', '', ...schema.enum.map(capital)),
    ]
  if (listed)
    return [
      ...withVerdict('fits', ...listed, listed.join(), listed.toReversed().join()),
      ...withVerdict('wrong', '', ',', 'nonsense', `${listed.join()},`, listed.join(', '), listed.join('|')),
      ...withVerdict('wrong', ...listed.map(capital)),
      ...withVerdict('open', `${listed[0]},${listed[0]}`, Array(1000).fill(listed[0]).join()),
    ]
  if (format === 'uuid')
    return [
      ...withVerdict('fits', UNKNOWN_ID, UNKNOWN_ID.toUpperCase()),
      ...withVerdict('wrong', ''),
      ...MALFORMED_IDS,
    ]
  if (format === 'date')
    return [
      ...DATES,
      // A range can be limited.
      ...withVerdict('open', '2100-12-31', '0001-01-01', '9999-12-31'),
      ...withVerdict('wrong', ''),
      ...INVALID_DATES,
    ]
  return [...textLengths(schema), ...withVerdict('open', ...HOSTILE_STRINGS), ...patternBreakers(schema)]
}

const capital = (text: string) => text.toUpperCase()

function patternBreakers({ pattern }: ValueSchema): TestValue<string>[] {
  if (pattern === undefined) return []
  const known = new RegExp(pattern, 'u')
  return withVerdict(
    'wrong',
    ...['!', '', 'a'.repeat(65), ...HOSTILE_STRINGS].filter((text) => !known.test(text)),
  )
}

/** Texts of lengths at, over and far past the limits; a character outside the basic plane counts once. */
function textLengths({ minLength, maxLength }: ValueSchema, from = ''): TestValue<string>[] {
  const filled = (length: number, filler = 'a') =>
    from.length >= length ? filler.repeat(length) : from + filler.repeat(length - from.length)
  const max = maxLength ?? 0
  return [
    ...(minLength ? withVerdict('wrong', filled(minLength - 1)) : []),
    ...(max > 0
      ? [...withVerdict('fits', filled(max)), ...withVerdict('wrong', filled(max + 1), filled(max * 10))]
      : withVerdict('open', 'a', 'a'.repeat(5000))),
    ...(max > 0 ? withVerdict('open', filled(max, '𝄞'), filled(max + 1, '𝄞')) : []),
  ]
}

/** JSON values of every type; a field accepts one or two of the types. */
const ANY_JSON: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, 1e16, '', ' ', 'x', '1', '\ud800', [], ['x']],
  ...[[[]], [null], {}, { a: 1 }, { toString: 'x' }, { length: 1 }],
]

/** Values for a field of a body; `from` is a valid one. The document decides which of them are valid. */
export function fieldValues(schema: ValueSchema, from: unknown): unknown[] {
  const kinds = schema.anyOf ?? [schema]
  return [...ANY_JSON, ...HOSTILE_STRINGS, ...kinds.flatMap((kind) => kindValues(kind, from))]
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
  if (format === 'uuid') return [UNKNOWN_ID, ...MALFORMED_IDS.map(({ value }) => value)]
  if (format === 'date')
    return [...DATES, ...INVALID_DATES]
      .map(({ value }) => value)
      .concat('2100-12-31', '0001-01-01', '9999-12-31')
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

/** Reports whether a value is exactly as long or as large as the schema allows, and therefore valid. */
export function isAtLimit(schema: ValueSchema, value: unknown): boolean {
  const kinds = schema.anyOf ?? [schema]
  return kinds.some(({ type, minimum, maximum, maxLength }) => {
    if (type === 'integer') return value === minimum || value === maximum
    return (
      type === 'string' && typeof value === 'string' && /^[ -~]+$/.test(value) && value.length === maxLength
    )
  })
}
