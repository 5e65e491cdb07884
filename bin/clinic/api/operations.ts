/** The operations of the API document as commands: a noun and a verb each. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Tool, toolsOf } from '../../../shared/clients/mcp/tools.ts'
import { type ApiDocument, type Endpoint, endpointsOf } from '../../../shared/openapi/read-document.ts'

export type Operation = { readonly noun: string; readonly verb: string; readonly endpoint: Endpoint }

const FILE = join(import.meta.dirname, '../../../docs/openapi.json')

/** Operations whose ids do not say the command: `clinic show` reads the clinic's settings with access to AWS. */
const NAMED: Readonly<Record<string, readonly [noun: string, verb: string]>> = {
  'get-clinic': ['clinic', 'current'],
  redeliver: ['delivery', 'redeliver'],
}

const document: ApiDocument = JSON.parse(readFileSync(FILE, 'utf8'))

/** The fields of an operation, and where a request has them. */
export function toolOf({ endpoint: { path, method, operation } }: Operation): Tool {
  const paths = { [path]: { [method.toLowerCase()]: operation } }
  return toolsOf({ ...document, paths })[0] as Tool
}

/** Names commands after ids: `list-invoices` is `invoice list`, `rotate-webhook-secret` is `webhook rotate-secret`. */
function operationsOf(endpoints: readonly Endpoint[]): Operation[] {
  const standard = (id: string) => {
    const [, verb = '', rest = ''] = /^(list|get|create|update|delete)-(.+)$/.exec(id) ?? []
    const noun = verb === 'list' ? rest.replace(/ies$/, 'y').replace(/s$/, '') : rest
    return noun === '' ? undefined : ([noun, verb === 'get' ? 'show' : verb] as const)
  }
  const nouns = [...new Set(endpoints.flatMap(({ operation }) => standard(operation.operationId)?.[0] ?? []))]
  const action = (id: string): readonly [string, string] => {
    const noun = nouns.find((one) => `-${id}-`.includes(`-${one}-`)) ?? id.split('-').at(-1) ?? id
    return [noun, `-${id}-`.replace(`-${noun}-`, '-').slice(1, -1) || 'run']
  }
  return endpoints.map((endpoint) => {
    const { operationId: id } = endpoint.operation
    const [noun, verb] = NAMED[id] ?? standard(id) ?? action(id)
    return { noun, verb, endpoint }
  })
}

/** All operations but deprecated ones, in the order of the document. */
export const OPERATIONS: readonly Operation[] = operationsOf(endpointsOf(document.paths))
