/** The part of the ledger that names deleted clinics: a restored table may have them again. */
import type { ClinicId } from '../../domain/clinic.ts'
import { deletedClinicKey } from '../keys/operator.ts'
import type { Table } from '../table/table.ts'
import type { Write } from '../table/write-requests.ts'

/** The beginning of a deletion, as an ISO 8601 instant, and who began it. */
export type Deletion = { readonly at: string; readonly operator: string }

export function deletedClinics({ table }: { table: Table }) {
  /** Records that a deletion has begun, and keeps the time and the operator of the first beginning. */
  async function begin(clinic: ClinicId, { at, operator }: Deletion): Promise<void> {
    await table.update(deletedClinicKey(clinic), {
      UpdateExpression: 'SET #at = if_not_exists(#at, :at), #by = if_not_exists(#by, :by)',
      ExpressionAttributeNames: { '#at': 'at', '#by': 'by' },
      ExpressionAttributeValues: { ':at': at, ':by': operator },
    })
  }

  /** Records in the transaction that deletes the clinic itself that nothing of it is left. */
  const finishWrite = (clinic: ClinicId): Write =>
    table.updateWrite(deletedClinicKey(clinic), {
      UpdateExpression: 'SET #done = :done',
      ExpressionAttributeNames: { '#done': 'f' },
      ExpressionAttributeValues: { ':done': 1 },
    })

  /** When the deletion of a clinic began, and who deleted it; null if no deletion did. */
  async function find(clinic: ClinicId): Promise<Deletion | null> {
    const item = await table.get(deletedClinicKey(clinic))
    return item ? { at: item.at as string, operator: item.by as string } : null
  }

  return { begin, finishWrite, find }
}
