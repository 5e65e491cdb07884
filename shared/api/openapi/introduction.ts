import type { Scope } from '../../domain/scope.ts'
import { ERROR_KEYS, errorEntry } from '../errors.ts'
import { BASE_PATH } from '../route.ts'
import { detailFields } from './errors.ts'

/** The document's opening words, in markdown: what is true of every endpoint. */
export const introduction = (): string => `JSON over HTTP for the third-party software of a clinic.

## First request

\`\`\`sh
curl -H 'Authorization: Developer KEY:SECRET' 'BASE_URL/patients?limit=2'
\`\`\`

\`BASE_URL\` is where this document is served, and \`${BASE_PATH}\`. A credential acts for one whole clinic, and belongs on
servers: there is no CORS.

## Conventions

- Unknown parameters and fields are errors, and so are parameters given twice; \`details\` names each.
- Ids are UUIDs, in any letter case. An id of nobody, or of another clinic, is not found.
- Dates are \`YYYY-MM-DD\`, times \`HH:MM\`, both on the clinic's clock; timestamps carry its offset at that moment.
- Optional fields of answers are \`null\`, never absent. Money is a number in units of the currency, exact to its decimals.
- Bodies are \`application/json\`, at most 256 KiB.

## Lists

\`page\` and \`limit\` walk a list; \`meta.total\` is exact, and orders are total: of data that does not change, the pages give
every record once. Logs (events, deliveries) are walked by a cursor: send \`meta.next_after\` as \`after\`.

## Repeating requests

Send an \`Idempotency-Key\` with any POST, and repeat the request as often as you like for 24 hours: it happens once, and
every repetition gets the first answer byte for byte. What was refused before anything was attempted (400, 401, 403, 404,
422, 429, 502, 503) is not kept.

## Rate

A credential has a number of requests for each minute, 300 unless it was issued with another; in any second at most a sixth of
that, and at least 50. The headers \`ratelimit\` and \`ratelimit-policy\` tell how much is left.

## Order of checks

Path and method (404, 405), credential (401), rate (429), scope (403), parameters and body (400, 413, 415, 422), records (404),
rules (409, 422). Nothing about a request's contents is revealed before the earlier checks are passed.

## Errors

\`{"error": CODE, "message": KEY, "details": [...]}\`. \`message\` is a translation key below \`errors.developer_api.\`; the texts
below are in \`/errors.json\`, ready to be translated. Quote \`x-request-id\` when you ask for help.

${errorTable()}`

const errorTable = (): string =>
  table(
    ['status', 'error', 'key', 'text', 'details'],
    ERROR_KEYS.map((key) => {
      const { status, error, text } = errorEntry(key)
      return [String(status), error, `\`${key}\``, text, detailFields(key)?.join(', ') ?? '']
    }).sort(([a = ''], [b = '']) => a.localeCompare(b)),
  )

/** How requests prove who they are for, and what scopes open. */
export const credentialDescription = (scopes: Partial<Record<Scope, string>>): string =>
  `\`Developer KEY:SECRET\`: the word, a space, and the pair that the clinic's operator issued. Whatever is wrong with it, the \
answer is the same 401. A credential has some of these scopes:

${table(
  ['scope', 'opens'],
  Object.entries(scopes).map(([scope, opened]) => [`\`${scope}\``, opened]),
)}`

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
