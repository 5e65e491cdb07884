/** Requests that a hostile or careless caller sends, and what each gets. */

/** Values of the `authorization` header for a credential `pair`; all get the same 401, or the parser's own 400. */
export const hostileAuthorizations = (pair: string): string[] => {
  const [key = '', secret = ''] = pair.split(':')
  return [
    '',
    ' ',
    'Developer',
    'Developer ',
    pair,
    `Bearer ${pair}`,
    `Basic ${Buffer.from(pair).toString('base64')}`,
    `Developer ${Buffer.from(pair).toString('base64')}`,
    `Developers ${pair}`,
    `Developer  ${pair}`,
    `Developer\t${pair}`,
    `Developer ${key}`,
    `Developer ${key}:`,
    `Developer :${secret}`,
    'Developer :',
    `Developer ${key}: ${secret}`,
    `Developer ${key}:${secret}:`,
    `Developer ${secret}:${key}`,
    `Developer ${key}:${secret.slice(0, -1)}`,
    `Developer ${key}:${secret}x`,
    `Developer ${key.toUpperCase()}:${secret}`,
    `Developer ${pair}, Developer ${pair}`,
    `Developer ${key}:${secret}\u00a0`,
    `Developer ${key}\uff1a${secret}`,
    `Developer ${key}\u0000:${secret}`,
    `Developer ${key}:${secret}\u0000`,
    `Developer ${'k'.repeat(8000)}:${secret}`,
    'AWS4-HMAC-SHA256 Credential=AKIA/20260101/us-east-1/execute-api/aws4_request, SignedHeaders=host, Signature=0',
  ]
}

const PATIENT = { first_name: 'Ada', last_name: 'Kaya' }
const WEBHOOK = { url: 'https://hooks.example.com/in', events: ['patient.created'] }
const deep = (open: string, close: string, count: number) => `${open.repeat(count)}${close.repeat(count)}`
const manyFields = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, 0])))

type BadBody = {
  readonly name: string
  readonly path: string
  readonly body: string
  readonly status: number
  readonly contentType?: string
}

const patient = (name: string, facts: object): BadBody => ({
  name,
  path: '/patients',
  body: JSON.stringify({ ...PATIENT, ...facts }),
  status: 422,
})
const webhook = (name: string, facts: object): BadBody => ({
  name,
  path: '/webhooks',
  body: JSON.stringify({ ...WEBHOOK, ...facts }),
  status: 422,
})
const raw = (name: string, body: string, status: number, contentType?: string): BadBody => ({
  name,
  path: '/patients',
  body,
  status,
  ...(contentType !== undefined && { contentType }),
})

/** Bodies, and the status that each gets. */
export const BAD_BODIES: readonly BadBody[] = [
  raw('nothing', '', 400),
  raw('a space', ' ', 400),
  raw('a word', 'patient', 400),
  raw('an unfinished object', '{"first_name": "Ada"', 400),
  raw('a trailing comma', '{"first_name": "Ada",}', 400),
  raw('single quotes', "{'first_name': 'Ada'}", 400),
  raw('a comment', '{"first_name": "Ada" /* x */}', 400),
  raw('two objects', `${JSON.stringify(PATIENT)}${JSON.stringify(PATIENT)}`, 400),
  raw('a byte order mark', `\ufeff${JSON.stringify(PATIENT)}`, 400),
  raw('NaN', '{"first_name": NaN}', 400),
  raw('a NUL', '{"first_name": "A\u0000"}', 400),
  raw('a line break in a text', '{"first_name": "A\nB"}', 400),
  raw('an unfinished escape', '{"first_name": "\\u00"}', 400),
  raw('hexadecimal', '{"first_name": 0x1}', 400),
  raw('XML', '<patient/>', 400),
  raw('100,000 open lists', '['.repeat(100_000), 400),
  raw('null', 'null', 422),
  raw('true', 'true', 422),
  raw('a number', '1e999', 422),
  raw('a text', '"Ada"', 422),
  raw('a list', '[]', 422),
  raw('a list of patients', JSON.stringify([PATIENT]), 422),
  raw('100,000 nested lists', deep('[', ']', 100_000), 422),
  raw('an empty object', '{}', 422),
  raw(
    '40,000 nested objects as a name',
    `{"first_name": ${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}}`,
    422,
  ),
  raw('a prototype', '{"__proto__": {"first_name": "Ada", "last_name": "Kaya"}}', 422),
  raw('a constructor', '{"constructor": {"prototype": {}}}', 422),
  raw('20,000 unknown fields', manyFields(20_000), 422),
  raw('a name of a field of 200,000 characters', `{"${'x'.repeat(200_000)}": 1}`, 422),
  raw('an empty name of a field', '{"": 1}', 422),
  raw('256 KiB and one byte', `{"first_name": "${'x'.repeat(256 * 1024)}"}`, 413),
  raw('a form', 'first_name=Ada', 415, 'application/x-www-form-urlencoded'),
  raw('JSON without its type', JSON.stringify(PATIENT), 415, 'text/plain'),
  raw('a type that only begins so', JSON.stringify(PATIENT), 415, 'application/json5'),
  raw('a multipart form', '--x--', 415, 'multipart/form-data; boundary=x'),
  patient('a name that is a number', { first_name: 1 }),
  patient('a name that is a list', { first_name: ['Ada'] }),
  patient('a name of null', { first_name: null }),
  patient('a name of 101 characters', { first_name: 'x'.repeat(101) }),
  patient('a name of 200,000 characters', { first_name: 'x'.repeat(200_000) }),
  patient('a blank name', { first_name: ' \t ' }),
  patient('a name of two lines', { first_name: 'Ada\r\nBcc: x@example.com' }),
  patient('half a character', { first_name: 'A\ud83d' }),
  patient('a date that does not exist', { date_of_birth: '2026-02-30' }),
  patient('a date before year 1', { date_of_birth: '0000-02-29' }),
  patient('a birth in the future', { date_of_birth: '2999-01-01' }),
  patient('an unknown gender', { gender: 'constructor' }),
  patient('a phone number without a country', { phone_number: '05321234567' }),
  patient('an email address with a line break', { email_address: 'a@example.com\nbcc: b@example.com' }),
  patient('an id', { id: '6d0e2a7c-0000-4000-8000-000000000001' }),
  webhook('20,000 unknown events', { events: Array(20_000).fill('x') }),
  webhook('13,000 known events', { events: Array(13_000).fill('patient.created') }),
  webhook('100,000 numbers as events', { events: Array(100_000).fill(1) }),
  webhook('a description of 200,000 characters', { description: 'x'.repeat(200_000) }),
  webhook('a secret of 200,000 characters', { secret: 'x'.repeat(200_000) }),
  webhook('every field wrong', { url: 1, events: 1, description: 1, secret: 1, is_active: 1 }),
]
