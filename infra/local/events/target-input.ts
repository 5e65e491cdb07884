import type { BusEvent } from './bus-event.ts'

/** The input of a target. Without any of these it is the event itself. */
export type TargetInput = {
  readonly Input?: string
  readonly InputTransformer?: {
    readonly InputPathsMap?: Readonly<Record<string, string>>
    readonly InputTemplate: string
  }
}

/** EventBridge supports names and indices after `$`, but no names in brackets. */
const PATH = /^\$(?:\.[\w/-]+(?:\[\d+\])*)*$/
const STEP = /\.([\w/-]+)|\[(\d+)\]/g
/** Tokens of an input template: an escaped character, a quotation mark, a placeholder. */
const TOKEN = /\\.|"|<([\w.-]+)>/gs

/** @throws Error that names the owner of an unsupported input */
export function checkInput({ InputTransformer }: TargetInput, owner: string): void {
  const paths = InputTransformer?.InputPathsMap ?? {}
  for (const path of Object.values(paths))
    if (!PATH.test(path))
      throw new Error(
        `${owner} reads ${path}; a path is of names and indices, as $.detail.mail.tags.id[0], with no name in brackets.`,
      )
  for (const [, name] of InputTransformer?.InputTemplate.matchAll(TOKEN) ?? [])
    if (name !== undefined && !Object.hasOwn(paths, name))
      throw new Error(`${owner} uses <${name}>, which is not in its InputPathsMap.`)
}

/** The input as JSON. @throws Error if the template produces invalid JSON */
export function renderInput({ Input, InputTransformer }: TargetInput, event: BusEvent): string {
  if (Input !== undefined) return Input
  if (InputTransformer) {
    const { InputPathsMap = {}, InputTemplate } = InputTransformer
    return minifyJson(renderTemplate(InputTemplate, (name) => valueAt(event, InputPathsMap[name] ?? '')))
  }
  return JSON.stringify(event)
}

const valueAt = (event: BusEvent, path: string): unknown =>
  [...path.matchAll(STEP)].reduce<unknown>(
    (value, [, name, index]) =>
      typeof value === 'object' && value !== null
        ? (value as Record<string, unknown>)[name ?? index ?? '']
        : undefined,
    event,
  )

/** A missing value is an empty string. Values within quotes are not escaped, as on EventBridge. */
function renderTemplate(template: string, lookUp: (name: string) => unknown): string {
  let quoted = false
  return template.replace(TOKEN, (token, name?: string) => {
    if (token === '"') quoted = !quoted
    if (name === undefined) return token
    const value = lookUp(name) ?? ''
    return quoted && typeof value === 'string' ? value : JSON.stringify(value)
  })
}

function minifyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    throw new Error('its input transformer does not produce JSON')
  }
}
