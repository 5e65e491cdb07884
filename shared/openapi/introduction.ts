import { ERROR_KEYS, errorEntry } from '../api/error-catalogue.ts'
import { MAX_DETAILS } from '../api/errors.ts'
import { BASE_PATH } from '../api/route.ts'
import type { Scope } from '../domain/scope.ts'
import { MAX_BODY_BYTES } from '../http/read-body.ts'
import { detailFields } from './errors.ts'
import { markdownTable } from './markdown-table.ts'

/** The introduction of the document, in markdown: what applies to every endpoint. */
export const introduction = (): string => `A JSON API over HTTP for third-party software of a clinic.

## First request

\`\`\`sh
curl -H 'Authorization: Developer KEY:SECRET' 'BASE_URL/patients?limit=2'
\`\`\`

\`BASE_URL\` is the address of this server followed by \`${BASE_PATH}\`. A credential gives access to all data of a clinic, so
keep it on a server. The API does not support CORS.

## Conventions

- Unknown parameters and fields are errors, as are repeated parameters. \`details\` names each one, up to ${MAX_DETAILS}.
- Ids are UUIDs and are not case-sensitive. A malformed id, an unknown id and an id of another clinic are all not found.
- Dates are \`YYYY-MM-DD\` and times are \`HH:MM\`, in the clinic's time zone. Timestamps include its UTC offset at that instant.
- Optional fields of records are \`null\`, never absent, except private fields, and fields that the credential may not read.
- Amounts are numbers in units of the currency, exact to its decimals.
- Request bodies are \`application/json\` of at most ${MAX_BODY_BYTES / 1024} KiB.

## Lists

Lists are paginated with \`page\` and \`limit\`. \`meta.total\` is exact. The order of a list is total: as long as the data does
not change, its pages contain every record exactly once. To miss no record while others are added, pass \`meta.next_after\` as
\`after\` instead of a \`page\`. Events and deliveries have cursors only, and no total.

## Unchanged records

The response of a GET that returns one record has an \`etag\`. If a later request has it in \`if-none-match\` and the record is still the same, the
response is a 304 without a body. If a PATCH, an action or a DELETE has it in \`if-match\` and the record has changed since,
nothing is changed and the response is a 412. In \`if-match\`, an etag requires the scope that reads the record (403). On any other request but a GET, the header is a 400.

## Idempotent requests

Send an \`Idempotency-Key\` with every POST and PATCH, so that you can safely repeat the request:
\`/docs/guides/errors-and-idempotency\`.

## Rate limits

\`rate_limit\` of \`GET /me\` is the number of requests that a credential can make in a minute. The \`ratelimit\` header reports how many are
left. All limits: \`/docs/rate-limits\`.

## Order of checks

Path and method (404, 405), credential (401), rate limit (429), scope, also for an etag in \`if-match\` (403), paused clinic (503, except for GET), query parameters (400),
path parameters (404), \`if-match\` (400), body (413, 415, 400, 422), idempotency key (400, 422), records (404), rules (409, 422). The scope of \`POST /messages\` depends on its body: a
credential without either scope receives the 403 before the request is read, any other after the body was parsed and before its
fields are validated.

## Errors

\`{"error": CODE, "message": KEY, "details": [...]}\`. \`message\` is a translation key with the prefix
\`errors.developer_api.\`. \`/errors.json\` contains the English texts below, ready for translation. Include \`x-request-id\` when you
contact support. \`details\` has at most ${MAX_DETAILS} items; \`details_omitted\` is then the number of the others.

${errorTable()}`

/** Every error of the catalogue as a markdown table, by status. */
const errorTable = (): string =>
  markdownTable(
    ['status', 'error', 'key', 'text', 'details'],
    ERROR_KEYS.map((key) => {
      const { status, error, text } = errorEntry(key)
      return [String(status), error, `\`${key}\``, text, detailFields(key)?.join(', ') ?? '']
    }).sort(([a = ''], [b = '']) => a.localeCompare(b)),
  )

/** How requests are authenticated, and what each scope grants. */
export const credentialDescription = (scopes: Readonly<Record<Scope, string>>): string =>
  `\`Developer KEY:SECRET\`: the word \`Developer\`, a space, and the key and secret that the clinic's operator issued. Any \
problem with a credential returns the same 401. A credential has any number of these scopes. An operation with
\`x-required-scopes\` requires one of them:

${scopeTable(scopes)}`

/** The scopes and the operations that each grants, as a markdown table. */
export const scopeTable = (scopes: Readonly<Record<Scope, string>>): string =>
  markdownTable(
    ['scope', 'grants'],
    Object.entries(scopes).map(([scope, operations]) => [`\`${scope}\``, operations]),
  )
