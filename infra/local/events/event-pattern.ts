/** A pattern of EventBridge and of Lambda's event filters: the path of each field, and a list of accepted values. */
export type EventPattern = { readonly [name: string]: EventPattern | readonly unknown[] }

const isNested = (part: EventPattern | readonly unknown[]): part is EventPattern => !Array.isArray(part)

type Matcher = (value: unknown) => boolean

/** @throws Error that names the owner of an unsupported pattern */
export function checkPattern(pattern: EventPattern, owner: string): void {
  for (const [name, part] of Object.entries(pattern)) {
    const unsupported = (by: unknown) =>
      new Error(`${owner} matches ${name} by ${JSON.stringify(by)}, which the local stack does not support.`)
    if (typeof part !== 'object' || part === null || name === '$or') throw unsupported(part)
    if (isNested(part)) checkPattern(part, owner)
    else for (const alternative of part) if (!matcherFor(alternative)) throw unsupported(alternative)
  }
}

/** Whether an event matches. Where the event has a list, one matching item is enough. */
export const matches = (pattern: EventPattern, event: unknown): boolean =>
  Object.entries(pattern).every(([name, part]) => {
    const value = (event as Record<string, unknown> | null | undefined)?.[name]
    const values = Array.isArray(value) && value.length > 0 ? value : [value]
    return values.some((item) =>
      isNested(part) ? matches(part, item) : part.some((alternative) => matcherFor(alternative)?.(item)),
    )
  })

/** A value matches itself; of the comparisons only prefixes are supported. */
function matcherFor(alternative: unknown): Matcher | undefined {
  if (typeof alternative !== 'object' || alternative === null) return (value) => value === alternative
  const { prefix, ...others } = alternative as { prefix?: unknown }
  if (typeof prefix !== 'string' || Object.keys(others).length > 0) return undefined
  return (value) => typeof value === 'string' && value.startsWith(prefix)
}
