import { fanOut } from '../../../shared/store/copies/copied-names.ts'
import { fanOutKey, fanOutPartition } from '../../../shared/store/keys/copies.ts'
import { eachAbreast } from './each-abreast.ts'
import type { Inspection } from './inspection.ts'
import { partitionPages } from './partition-pages.ts'

/** Whoever changes a name pays for its copies at once: a debt of that age is one that nobody pays any more. */
const PATIENCE_MS = 5_000

/** Debts of copied names that a run left when it broke off. Begun first, judged last, so that others have time to pay. */
export async function nameDebts({ table, clinic, count, examine }: Inspection, patience = PATIENCE_MS) {
  const begun = performance.now()
  const debts: { owner: string; version: unknown }[] = []
  for await (const page of partitionPages(table, fanOutPartition(clinic))) {
    debts.push(...page.map(({ sk, v }) => ({ owner: sk, version: v })))
  }

  async function check(): Promise<void> {
    count('debts', debts.length)
    if (debts.length === 0) return
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, begun + patience - performance.now())))
    const { pay } = fanOut(table)
    await eachAbreast(debts, ({ owner, version }) =>
      examine(async () => {
        const key = fanOutKey(clinic, owner)
        const debt = await table.get(key)
        // Of another version, it is a later change's, whose own run is at it.
        if (!debt || debt.v !== version) return null
        return { faults: [{ kind: 'fan_out_owed', key }], mend: () => pay(clinic, owner) }
      }),
    )
  }

  return { check }
}
