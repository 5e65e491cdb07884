/** Instances of the functions, each with its own stores and memory, as Lambda's processes have. */
import { functionFile } from '../../shared/runtime/workers.ts'
import { stubFunctionEnvironment } from '../support/functions.ts'

type Handler = (event: unknown, context: unknown) => Promise<unknown>

let instances = 0
let loading: Promise<unknown> = Promise.resolve()

/** Functions of one table, loaded on first use. */
export function functionInstances(tableName: string) {
  let loaded = new Map<string, Promise<Handler>>()
  return {
    handler: (id: string): Promise<Handler> => {
      const known = loaded.get(id)
      if (known) return known
      // One at a time: a function reads the environment while it is loaded.
      const handler = loading.then(async () => {
        stubFunctionEnvironment(tableName)
        return (await load(id, ++instances)) as Handler
      })
      loading = handler.catch(() => undefined)
      loaded.set(id, handler)
      return handler
    },
    restart: (): void => {
      loaded = new Map()
    },
  }
}

/** Loads a function as a separate module, since the query differs: its stores and their memory are new. */
async function load(id: string, instance: number): Promise<unknown> {
  const path = new URL(`../../${functionFile(id)}?instance=${instance}`, import.meta.url)
  return (await import(/* @vite-ignore */ `${path.pathname}${path.search}`)).handler
}
