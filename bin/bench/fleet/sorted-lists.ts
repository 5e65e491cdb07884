/** An item's position in its list: by `at`, then by id. */
type Place = { readonly at: number; readonly id: string }

/** Short sorted lists by key. */
export function sortedLists() {
  const lists = new Map<string, Place[]>()

  function add(key: string, place: Place): void {
    const list = lists.get(key)
    if (!list) lists.set(key, [place])
    else {
      const next = list.findLastIndex(({ at, id }) => at < place.at || (at === place.at && id < place.id))
      list.splice(next + 1, 0, place)
    }
  }

  function remove(key: string, id: string): void {
    const list = lists.get(key)
    const index = list?.findIndex((place) => place.id === id) ?? -1
    if (index < 0) return
    list?.splice(index, 1)
    if (list?.length === 0) lists.delete(key)
  }

  return {
    add,
    remove,
    /** The first `limit` ids of a list; those after a place, if it is given. */
    first: (key: string, limit: number, after?: Place): string[] => {
      const list = lists.get(key) ?? []
      const isAfter = ({ at, id }: Place) => !after || at > after.at || (at === after.at && id > after.id)
      const start = after ? list.findIndex(isAfter) : 0
      return start < 0 ? [] : list.slice(start, start + limit).map(({ id }) => id)
    },
    firstBefore: (key: string, before: number): string | null => {
      const [place] = lists.get(key) ?? []
      return place && place.at < before ? place.id : null
    },
    firstAfter: (key: string, after: number): string | null =>
      lists.get(key)?.find(({ at }) => at > after)?.id ?? null,
  }
}
