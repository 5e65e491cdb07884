import type { Command } from 'commander'
import type { Changeset } from '../../shared/store/table/changeset.ts'
import { commitWithRetry } from '../../shared/store/table/commit-packed.ts'
import { confirm } from './confirmation.ts'

/** Reports something about the changes that the operator has to agree to first. */
export type Warn = (consequence: string) => void

/**
 * Commits the changes that `build` returns, like {@link commitWithRetry}. If it warns, the operator has to agree first: nothing
 * is committed with a consequence that was not shown, although the records may change while the operator reads.
 */
export async function commitConfirmed(
  command: Command,
  build: (warn: Warn) => Promise<Changeset | null>,
): Promise<void> {
  const agreed = new Set<string>()
  for (;;) {
    let open: string[] = []
    await commitWithRetry(async () => {
      const warnings: string[] = []
      const changes = await build((consequence) => warnings.push(consequence))
      open = warnings.filter((consequence) => !agreed.has(consequence))
      return open.length === 0 ? changes : null
    })
    if (open.length === 0) return
    await confirm(command, open)
    for (const consequence of open) agreed.add(consequence)
  }
}
