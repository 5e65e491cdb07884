import { MAX_IDEMPOTENCY_KEY } from '../api/error-catalogue.ts'
import { BASE_PATH, type Route } from '../api/route.ts'
import { ROUTES } from '../api/routes.ts'
import { webhookOperations } from './events.ts'
import { HEADERS } from './headers.ts'
import { credentialDescription, introduction } from './introduction.ts'
import { operation, scopeDescriptions, sharedResponses, unmatchedRequests } from './operations.ts'
import { type Json, schemaCollector } from './schemas.ts'
import { tags } from './tags.ts'

/** The API as an OpenAPI 3.1 document, generated from the route table and the example records. */
export function openapiDocument(): Json {
  const schemas = schemaCollector()
  const scopes = scopeDescriptions(ROUTES)
  const document = {
    openapi: '3.1.0',
    info: {
      title: 'Clinic Developer API',
      version: '1.1.0',
      description: introduction(),
      // The project has no address of its own.
      contact: { name: 'The operator who issued your credential' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: BASE_PATH, description: 'The server that serves this document.' }],
    tags,
    paths: paths((route) => operation(route, schemas)),
    webhooks: webhookOperations(schemas),
    'x-other-requests': unmatchedRequests(schemas),
  }
  const components = {
    securitySchemes: {
      Developer: {
        type: 'apiKey',
        in: 'header',
        name: 'Authorization',
        description: credentialDescription(scopes),
        'x-scopes': scopes,
      },
    },
    parameters: { IdempotencyKey, IdempotencyKeyAlias, IfNoneMatch, IfMatch },
    headers: HEADERS,
    responses: sharedResponses(schemas),
    schemas: schemas.all(),
  }
  schemas.descriptions.check()
  return { ...document, components }
}

const IdempotencyKey: Json = {
  name: 'idempotency-key',
  in: 'header',
  required: false,
  description:
    'A unique key that you choose for this request. If you repeat the request with the same key and the same body within 24 ' +
    'hours, it is executed once and the first response is returned again. Keys are scoped to a credential and an endpoint. ' +
    'Bodies are compared byte by byte.',
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: MAX_IDEMPOTENCY_KEY,
    pattern: String.raw`^[\x21-\x7e]+$`,
  },
}

const IdempotencyKeyAlias: Json = {
  name: 'x-idempotency-key',
  in: 'header',
  required: false,
  deprecated: true,
  description: 'Another name of `idempotency-key`. If both are sent, they must be equal.',
  schema: IdempotencyKey.schema,
}

/** `*`, or a list of etags; weak ones never match. */
const ETAG = String.raw`(W/)?"[\x21\x23-\x7e\x80-\xff]*"`
const IF_MATCH = String.raw`^(\*|${ETAG}(\s*,\s*${ETAG})*)$`

const IfNoneMatch: Json = {
  name: 'if-none-match',
  in: 'header',
  required: false,
  description:
    'The `etag` of an earlier response. If the record is still the same, the response is a 304 without a body.',
  schema: { type: 'string' },
}

const IfMatch: Json = {
  name: 'if-match',
  in: 'header',
  required: false,
  description:
    'The `etag` of an earlier response, or several of them. If the record has none of them, nothing is changed and ' +
    'the response is a 412. An `etag` requires the scope that reads the record (403). `*` matches every record, and requires no ' +
    'further scope.',
  schema: { type: 'string', pattern: IF_MATCH },
}

function paths(toOperation: (route: Route) => Json): Json {
  const items: Record<string, Record<string, Json>> = {}
  for (const route of ROUTES) {
    const item = items[route.path] ?? {}
    item[route.method.toLowerCase()] = toOperation(route)
    items[route.path] = item
  }
  return items
}
