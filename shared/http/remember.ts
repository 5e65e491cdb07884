/** Entries that a process remembers: a caller that sends ever new keys must not fill the memory. */
const MAX_KEYS = 1000

/** Moves the key to the end of the map, whose first keys are forgotten. */
export function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > MAX_KEYS) map.delete(map.keys().next().value ?? '')
}
