/** Credentials that their clinic's list lacks: they authenticate, and only a scan of the table finds them. */
import type { ClinicId, ClinicInfo } from '../../domain/clinic.ts'
import { expirySeconds } from '../../store/events/items.ts'
import { clinicCredentialKey, credentialKey } from '../../store/keys/clinics.ts'
import { keyText, TTL } from '../../store/keys/key.ts'
import { unlistedCredentialKey, walkKey } from '../../store/keys/operator.ts'
import type { Table } from '../../store/table/table.ts'
import { partitionPages } from '../walk/partition-pages.ts'
import { type Scannable, tableItems } from '../walk/sources.ts'
import { type WalkOptions, walk } from '../walk/walk.ts'

const { pk: PREFIX, sk: SORT_KEY } = credentialKey('')

const FILTER = {
  FilterExpression: 'begins_with(pk, :prefix) AND sk = :sk AND attribute_exists(clinic.id)',
  ExpressionAttributeValues: { ':prefix': PREFIX, ':sk': SORT_KEY },
}

/** Reads the credentials of all clinics, and notes those that are not listed. `purpose` has a progress of its own. */
export function noteUnlisted(
  platform: Scannable & WalkOptions & { readonly table: Table },
  purpose: string,
): Promise<void> {
  const { table } = platform
  const visitor = {
    progress: walkKey('support', `credentials#${purpose}`),
    visit: async (items: readonly { readonly pk: string; readonly clinic?: unknown }[]) => {
      const all = items.map(({ pk, clinic }) => [(clinic as ClinicInfo).id, pk.slice(PREFIX.length)] as const)
      const rows = await table.getMany(all.map(([clinic, key]) => clinicCredentialKey(clinic, key)))
      const listed = new Set(rows.map(keyText))
      const unlisted = all.filter(([clinic, key]) => !listed.has(keyText(clinicCredentialKey(clinic, key))))
      const expiry = { [TTL]: expirySeconds(table.now()) }
      await table.putMany(
        unlisted.map(([clinic, key]) => ({ ...unlistedCredentialKey(clinic, key), ...expiry })),
      )
      return {}
    },
    finish: async () => {},
  }
  return walk(table, tableItems(platform, FILTER), visitor, platform)
}

/** The keys of a clinic's credentials that were noted in the last 30 days. They may be listed again. */
export async function unlistedOf(table: Table, clinic: ClinicId): Promise<string[]> {
  const { pk, sk } = unlistedCredentialKey(clinic, '')
  const keys: string[] = []
  for await (const notes of partitionPages(table, pk, { from: sk, to: `${sk}~` }))
    keys.push(...notes.map((note) => note.sk.slice(sk.length)))
  return keys
}
