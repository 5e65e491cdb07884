import type { ClinicId } from '../domain/clinic.ts'
import { clinicKey } from './keys/clinics.ts'
import { ConditionFailed } from './table/errors.ts'
import type { Table } from './table/table.ts'

/** A restored table is to replace this one: nothing may change until then. */
class TableBeingReplaced extends Error {
  override readonly name = 'TableBeingReplaced'
}

/** For workers and commands that also change paused clinics. Apart from the stores, so that their bundles have no time zones. */
export function tableReplacement({ table }: { table: Table }) {
  /** @throws TableBeingReplaced, but perhaps not yet if the replacement began a moment ago */
  async function requireNone(clinic: ClinicId): Promise<void> {
    const item = await table.get(clinicKey(clinic), { eventual: true })
    if (item?.replacement !== undefined)
      throw new TableBeingReplaced('a restored table is to replace this one')
  }

  /**
   * Records a change of a clinic that is paused until a restored table is used: a reconciliation that has begun may not have it. Returns the
   * restored table; null without such a pause.
   */
  async function renew(clinic: ClinicId): Promise<string | null> {
    try {
      const item = await table.update(clinicKey(clinic), {
        UpdateExpression: 'SET #replacement.#since = :now ADD v :one',
        ConditionExpression: 'attribute_exists(#replacement)',
        ExpressionAttributeNames: { '#replacement': 'replacement', '#since': 'since' },
        ExpressionAttributeValues: { ':now': new Date(table.now()).toISOString(), ':one': 1 },
        ReturnValues: 'ALL_NEW',
      })
      return (item as { replacement: { table: string } }).replacement.table
    } catch (error) {
      if (error instanceof ConditionFailed) return null
      throw error
    }
  }

  return { requireNone, renew }
}
