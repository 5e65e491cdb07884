/** All records of a list, page by page, as a caller reads them when nothing changes. */
import type { ClinicModel } from '../model.ts'
import { demand } from '../register.ts'
import type { World } from '../world.ts'

const PAGE = 100

export async function fetchJson(
  world: World,
  clinic: ClinicModel,
  route: string,
  request: object = {},
): Promise<any> {
  const response = await world.send({ route, authorization: clinic.authorization, ...request })
  demand(response?.status === 200, () => `${route} returned ${response?.status} ${response?.text} at the end`)
  return response?.body
}

export async function readAll(
  world: World,
  clinic: ClinicModel,
  route: string,
  query: Record<string, string> = {},
): Promise<any[]> {
  const records: unknown[] = []
  for (let page = 1; ; page++) {
    const { data, meta } = await fetchJson(world, clinic, route, {
      query: { ...query, limit: `${PAGE}`, page: `${page}` },
    })
    records.push(...data)
    if (page >= meta.total_pages) {
      demand(meta.total === records.length, () => `${route}: ${records.length} records, total ${meta.total}`)
      return records
    }
  }
}

/** All items of a list with cursors. */
export async function readCursorList(
  world: World,
  clinic: ClinicModel,
  route: string,
  path?: Record<string, string>,
): Promise<any[]> {
  const records: unknown[] = []
  let after: string | undefined
  for (;;) {
    const query: Record<string, string> = { limit: `${PAGE}`, ...(after !== undefined && { after }) }
    const { data, meta } = await fetchJson(world, clinic, route, { query, ...(path && { path }) })
    records.push(...data)
    if (!meta.has_more) return records
    after = meta.next_after
  }
}

/**
 * Compares stored records with what a history knows: `certain` ones exist once, `possible` ones at most once, and there
 * are no others. `slack` allows stored records that cannot be told apart, since their patient was erased.
 */
export function compareExistence<M extends { readonly existence: string }, R>(
  what: string,
  models: readonly M[],
  stored: readonly R[],
  matches: (model: M, record: R) => boolean,
  nameOf: (model: M) => string,
  isAnonymous: (record: R) => boolean = () => false,
): void {
  const matched = new Set<R>()
  for (const model of models) {
    const found = stored.filter((record) => matches(model, record))
    for (const record of found) matched.add(record)
    demand(found.length <= 1, () => `${what} ${nameOf(model)} exists ${found.length} times`)
    if (model.existence === 'certain') demand(found.length === 1, () => `${what} ${nameOf(model)} is lost`)
    if (model.existence === 'none')
      demand(found.length === 0, () => `${what} ${nameOf(model)} was rejected, but exists`)
  }
  const strange = stored.find((record) => !matched.has(record) && !isAnonymous(record))
  demand(strange === undefined, () => `an unexpected ${what}: ${JSON.stringify(strange)}`)
}
