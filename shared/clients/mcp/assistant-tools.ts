import type { ApiDocument, Schema } from '../../openapi/read-document.ts'
import { type Tool, toolsOf } from './tools.ts'

/** A tool as a model reads it: without what only programs need. */
export type AssistantTool = Tool & {
  /** Its name in the option `--tools`. */
  readonly group: string
  /** Whether it is offered without that option. */
  readonly isDefault: boolean
}

/** What `build.ts` writes for `server.ts`. */
export type Generated = {
  readonly version: string
  readonly tools: readonly AssistantTool[]
  /** What an error means and what to do, by its key. */
  readonly errorTexts: Readonly<Record<string, string>>
}

/** The groups that are offered only when they are named, by the first word of their scopes. */
const NAMED_GROUPS: Readonly<Record<string, string>> = {
  catalogue: 'catalogue',
  invoice: 'invoices',
  schedule: 'schedule',
  webhook: 'webhooks',
}

/**
 * Words of sentences about HTTP, encodings, copies of lists, scopes that the credential has anyway, and what the instructions of the server
 * or the format of a field say. Every conversation pays for the list of tools, which would be a fifth longer with these sentences.
 */
const FOR_PROGRAMS =
  /40\d|YYYY-MM-DD|time zone|\b(GET|POST|HTTP|bytes?|accents|digits of|GSM|UTF|punycode|cursor|location|etag|meta|next_after|updated_since|idempotency-key|scope|credential|import|malformed|2199-12-31|daylight|filters can|filtering by)\b/i

/** Limits that the API checks: its error names the argument and what is accepted. */
const CHECKED_BY_API = new Set([
  'pattern',
  'minLength',
  'maxLength',
  'maxItems',
  'minItems',
  'uniqueItems',
  'exclusiveMinimum',
  'propertyNames',
])

/** How many records or slots a call returns without `limit`. */
export const DEFAULT_LIMIT = 20

/** Descriptions that replace those of the document. */
const TEXTS: Readonly<Record<string, string>> = {
  idempotency_key: 'To repeat a call: the key in its error.',
  limit: 'Results per page.',
  search: 'Words of the name or the email address, or a part of the phone number.',
  expand: '`patient`: with all fields of the patient.',
  external_id: 'Id in another system.',
  language: 'Such as `pt-BR`.',
  order: '`desc`: newest first.',
  message: 'At most ten segments of an SMS, or 10,000 characters of an email.',
}

/** The tools for assistants: none for sync, and no fields for programs that copy lists. */
export const assistantTools = (document: ApiDocument): AssistantTool[] =>
  toolsOf(document)
    .filter(({ scopes }) => !scopes.includes('sync.write'))
    .map((tool) => {
      const { properties } = tool.inputSchema
      const hasPages = 'page' in properties || 'date' in properties
      const fields = Object.entries(properties)
        .filter(([name]) => name !== 'updated_since' && !(name === 'after' && hasPages))
        .map(([name, schema]) => {
          // Every list has it, and the API checks its bounds.
          if (name === 'page') return [name, { type: 'integer', description: 'From 1.' }]
          const description = TEXTS[name] ?? schema.description
          return [
            name,
            brief({ ...schema, description, ...(name === 'limit' && { default: DEFAULT_LIMIT }) }),
          ]
        })
      const named = NAMED_GROUPS[tool.scopes[0]?.split('.')[0] ?? '']
      return {
        ...tool,
        description: sentencesForModels(tool.description) || tool.title,
        inputSchema: { ...tool.inputSchema, properties: Object.fromEntries(fields) },
        group: named ?? tool.tag.toLowerCase(),
        isDefault: named === undefined,
      }
    })

const sentencesForModels = (text: string): string =>
  text
    .replaceAll(", in the clinic's time zone", '')
    .split(/(?<=\.)\s+/)
    .filter((sentence) => !FOR_PROGRAMS.test(sentence))
    .join(' ')

/** A schema, and those in it, without what the API checks. Values in a pattern move to the description. */
const brief = (schema: Schema): Schema =>
  JSON.parse(JSON.stringify(schema), (key, value) => {
    if (key === 'description' && typeof value === 'string') return sentencesForModels(value) || undefined
    if (key === 'properties' || typeof value !== 'object' || value === null || Array.isArray(value))
      return value
    const { anyOf: [type, none] = [], ...others } = value
    // A type and null.
    const whole = none?.type === 'null' ? { ...type, ...others, type: [type.type, 'null'] } : value
    const [, values] = /^\^\(([\w|]+)\)\(,/.exec(whole.pattern ?? '') ?? []
    const description = values ? `${whole.description} ${values.replaceAll('|', ', ')}.` : whole.description
    return Object.fromEntries(
      Object.entries({ ...whole, description }).filter(([name]) => !CHECKED_BY_API.has(name)),
    )
  })
