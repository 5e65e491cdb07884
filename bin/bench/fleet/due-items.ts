import type { DueDelivery } from '../../../shared/domain/delivery.ts'

/** Due items of one partition by time, in buckets of a second: no insertion or removal looks at other seconds. */
export type DueItems = ReturnType<typeof dueItems>

const keyOf = ({ at, id }: DueDelivery): string => `${at}#${id}`
const bySortKey = (a: DueDelivery, b: DueDelivery): number =>
  a.at - b.at || (a.id === b.id ? 0 : a.id < b.id ? -1 : 1)
const secondOf = (at: number): number => Math.floor(at / 1000)

export function dueItems() {
  const buckets = new Map<number, Map<string, DueDelivery>>()
  /** No bucket is earlier. */
  let first = Number.POSITIVE_INFINITY
  let size = 0

  function add(item: DueDelivery): void {
    const second = secondOf(item.at)
    const bucket = buckets.get(second) ?? new Map<string, DueDelivery>()
    if (bucket.size === 0) buckets.set(second, bucket)
    bucket.set(keyOf(item), item)
    first = Math.min(first, second)
    size++
  }

  function remove(item: DueDelivery): void {
    const second = secondOf(item.at)
    const bucket = buckets.get(second)
    if (!bucket?.delete(keyOf(item))) return
    if (bucket.size === 0) buckets.delete(second)
    size--
  }

  /** The items that are due by `until`, after another one, earliest first. */
  function query(until: number, after: DueDelivery | null, limit: number): DueDelivery[] {
    const found: DueDelivery[] = []
    if (size === 0) return found
    const last = secondOf(until)
    while (first <= last && !buckets.has(first)) first++
    for (let second = after ? secondOf(after.at) : first; second <= last && found.length < limit; second++) {
      const bucket = [...(buckets.get(second)?.values() ?? [])].sort(bySortKey)
      found.push(...bucket.filter((item) => item.at <= until && (!after || bySortKey(item, after) > 0)))
    }
    return found.slice(0, limit)
  }

  return { add, remove, query }
}
