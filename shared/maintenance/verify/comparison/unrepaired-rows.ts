import type { Key } from '../../../store/keys/key.ts'

export type UnrepairedRows = ReturnType<typeof unrepairedRows>

/**
 * Rows that are missing or superfluous and are not repaired. Counts are right both with and without them. Its size
 * grows with the damage, not with the clinic.
 */
export const unrepairedRows = () => ({ missing: keySet(), extra: keySet() })

function keySet() {
  const partitions = new Map<string, Set<string>>()
  return {
    add: ({ pk, sk }: Key): void => {
      partitions.set(pk, (partitions.get(pk) ?? new Set()).add(sk))
    },
    /** Their sort keys. */
    of: (pk: string): string[] => [...(partitions.get(pk) ?? [])],
  }
}
