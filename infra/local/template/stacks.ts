import type { StackContext } from './physical-names.ts'
import { type ResolvedTemplate, resolveTemplate, type Template } from './template.ts'

/** A stack of the app. */
export type SynthesizedStack = { readonly stackName: string; readonly template: Template }

/**
 * The stacks of an app as one template: all of their resources, and the outputs of the first. Values that one stack exports
 * and another imports are resolved.
 * @throws Error if two stacks have a resource of the same logical id, when that id is looked up
 */
export function resolveStacks(
  stacks: readonly SynthesizedStack[],
  context: Omit<StackContext, 'stackName'>,
): ResolvedTemplate {
  const importValue = (name: string): string | undefined =>
    resolved.map((template) => template.exported(name)).find((value) => value !== undefined)
  const resolved = stacks.map(({ stackName, template }) =>
    resolveTemplate(template, { ...context, stackName }, importValue),
  )
  const owner = (id: string): ResolvedTemplate => {
    const [found, ...more] = resolved.filter((template) => template.has(id))
    if (!found) throw new Error(`No stack has the resource ${id}.`)
    if (more.length > 0) throw new Error(`${more.length + 1} stacks have a resource ${id}.`)
    return found
  }
  return {
    has: (id) => resolved.some((template) => template.has(id)),
    resourcesOf: (type) => resolved.flatMap((template) => template.resourcesOf<never>(type)),
    customResourceProviders: () => resolved.flatMap((template) => template.customResourceProviders()),
    outputs: () => resolved[0]?.outputs() ?? {},
    exported: importValue,
    ref: (id) => owner(id).ref(id),
    attribute: (id, name) => owner(id).attribute(id, name),
  }
}
