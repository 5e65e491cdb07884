import { Ajv2020 as JsonSchema } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect, it } from 'vitest'
import { scopesOf } from '../../../../shared/api/route.ts'
import { ROUTES } from '../../../../shared/api/routes.ts'
import { assistantTools } from '../../../../shared/clients/mcp/assistant-tools.ts'
import { toolsOf } from '../../../../shared/clients/mcp/tools.ts'
import type { ApiDocument, Schema } from '../../../../shared/openapi/read-document.ts'
import { document } from '../../../support/document-conformance.ts'
import { requestOf, unknownIds } from '../../../support/route-samples.ts'

const tools = toolsOf(document as unknown as ApiDocument)
const toolOf = (name: string) => tools.find((tool) => tool.name === name)

it('makes one tool of each operation that is not deprecated, with its scopes', () => {
  const routes = ROUTES.filter(({ aliasOf }) => aliasOf === undefined)
  expect(tools.map(({ name, scopes }) => [name, scopes]).sort()).toEqual(
    routes.map((route) => [route.id, scopesOf(route)]).sort(),
  )
})

it('accepts the path, query and body of every request as one object, and no other field', () => {
  const ajv = new JsonSchema({ strict: true, strictTypes: false })
  formats.default(ajv)
  for (const route of ROUTES.filter(({ aliasOf }) => aliasOf === undefined)) {
    const { path, query, body = '{}' } = requestOf(route, unknownIds())
    const input = { ...path, ...query, ...JSON.parse(body) }
    // A strict compilation fails for a reference.
    const validate = ajv.compile(toolOf(route.id)?.inputSchema ?? false)
    expect([route.id, validate(input), validate.errors]).toEqual([route.id, true, null])
    expect([route.id, validate({ ...input, unknown: 1 })]).toEqual([route.id, false])
  }
})

it('has the fields of a request without headers, and without the deprecated names of webhooks', () => {
  expect(toolOf('update-webhook')?.places).toEqual({
    id: 'path',
    idempotency_key: 'header',
    url: 'body',
    events: 'body',
    description: 'body',
    secret: 'body',
    is_active: 'body',
  })
})

it('contains the descriptions of operations, parameters and fields', () => {
  const tool = toolOf('cancel-appointment')
  expect(tool?.title).toBe('Cancel an appointment')
  expect(tool?.description).toContain('appointment.write')
  expect(tool?.inputSchema.properties.reason?.description).toContain('cancellation')
  const [withoutText] = tools.flatMap(({ name, inputSchema: { properties } }) =>
    Object.keys(properties).flatMap((field) => (properties[field]?.description ? [] : [`${name} ${field}`])),
  )
  expect(withoutText).toBeUndefined()
})

it.each([
  ['a retrieval', 'get-patient', true, false, true],
  ['a creation', 'create-appointment', false, false, false],
  ['a message', 'send-message', false, false, false],
  ['a change', 'update-appointment', false, true, true],
  ['an action on a record', 'cancel-appointment', false, true, false],
  ['a deletion', 'delete-webhook', false, true, true],
])('says of %s whether it reads, destroys and can be repeated', (_, name, reads, destroys, repeatable) => {
  expect(toolOf(name)?.annotations).toEqual({
    readOnlyHint: reads,
    destructiveHint: destroys,
    idempotentHint: repeatable,
  })
})

/** A document with one operation, `rename-device`. */
const documentWith = (body: Schema): ApiDocument => ({
  tags: [],
  webhooks: {},
  components: { schemas: { Colour: { type: 'string' }, Old: { type: 'object', deprecated: true } } },
  paths: {
    '/devices/{id}': {
      post: {
        operationId: 'rename-device',
        summary: 'Rename a device',
        tags: [],
        'x-required-scopes': [],
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'device_name', in: 'query', deprecated: true, schema: { type: 'string' } },
        ],
        requestBody: { content: { 'application/json': { schema: body } } },
        responses: { 200: { description: 'OK' } },
      },
    },
  },
})

it.each<[string, Schema, string]>([
  [
    'a field has the name of a parameter',
    { type: 'object', properties: { id: {} } },
    'rename-device has two fields with the name id.',
  ],
  [
    'a body has alternatives',
    { anyOf: [{ type: 'object' }, { type: 'object' }] },
    'The body of rename-device is not one object.',
  ],
  ['a body is a list', { type: 'array' }, 'The body of rename-device is not one object.'],
  [
    'a reference leads nowhere',
    { type: 'object', properties: { colour: { $ref: '#/components/schemas/Color' } } },
    'The document has no #/components/schemas/Color.',
  ],
])('fails the build when %s', (_, body, message) => {
  expect(() => toolsOf(documentWith(body))).toThrow(message)
})

it('replaces a reference, keeps what is written next to it, and leaves out what is deprecated', () => {
  const colour = { $ref: '#/components/schemas/Colour', description: 'Of the case.' }
  const properties = { colour, color: { ...colour, deprecated: true } }
  const body = { type: 'object', properties, required: ['colour'] }
  const [tool] = toolsOf(documentWith({ anyOf: [body, { $ref: '#/components/schemas/Old' }] }))
  expect(tool?.inputSchema).toEqual({
    type: 'object',
    properties: { id: { type: 'string' }, colour: { type: 'string', description: 'Of the case.' } },
    required: ['id', 'colour'],
    additionalProperties: false,
  })
})

it('describes the tools that assistants get by default in 9,000 tokens of 4 characters, without HTTP, bytes and cursors', () => {
  const offered = assistantTools(document as unknown as ApiDocument).filter(({ isDefault }) => isDefault)
  const list = offered.map(({ name, title, description, inputSchema, annotations }) => ({
    ...{ name, title, description, inputSchema, annotations },
  }))
  const text = JSON.stringify(list)
  expect(text.length).toBeLessThan(36_000)
  expect(text).not.toMatch(/\b(HTTP|bytes?|cursor|next_after|pattern|maxLength|GET|POST)\b/)
  const { properties } = offered.find(({ name }) => name === 'list-invoices')?.inputSchema ?? {}
  expect(properties).toMatchObject({ limit: { default: 20 }, status: { description: /draft, pending/ } })
})
