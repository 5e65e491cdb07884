import { type ImportedKind, type ImportIds, importIdsOf } from '../../../store/external-ids/derive.ts'
import { isLinkable, LINKABLE, type LinkableKind } from '../../../store/external-ids/links.ts'
import {
  externalIdLinkKey,
  externalIdLinksPartition,
  externalIdSecretKey,
} from '../../../store/keys/external-ids.ts'
import type { Key } from '../../../store/keys/key.ts'
import { findSecret } from '../../../store/table/secret.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import { requireUnchanged } from './conditions.ts'
import type { Finding, Recheck } from './difference.ts'
import type { Inspection } from './inspection.ts'

const KINDS = Object.keys(LINKABLE) as LinkableKind[]

/** Verifies that every record with an external id is found by it: its id follows from the external id, or a link names it. */
export function externalIdChecker({ table, clinic, count, examine }: Inspection) {
  let ids: Promise<ImportIds | null> | undefined

  /** How ids follow from external ids. Null if the clinic's secret is missing: then nothing is compared, and no new secret is made. */
  const readIds = (): Promise<ImportIds | null> => {
    ids ??= findSecret(table, externalIdSecretKey(clinic)).then((secret) => secret && importIdsOf(secret))
    return ids
  }

  /** The link that the record's external id requires; null for none. */
  async function wantedLink(kind: ImportedKind, record: Item | undefined): Promise<Item | null> {
    if (typeof record?.xi !== 'string') return null
    const derived = (await readIds())?.(kind, record.xi)
    if (derived === undefined || derived === record.sk) return null
    return { ...externalIdLinkKey(clinic, derived), r: record.sk }
  }

  async function check(kind: ImportedKind, records: readonly Item[]): Promise<void> {
    const identified = records.filter(({ xi }) => xi !== undefined)
    if (identified.length === 0) return
    count('external_ids', identified.length)
    const suspects: Item[] = []
    const wanted = await Promise.all(identified.map((record) => wantedLink(kind, record)))
    const links = new Map(wanted.flatMap((link) => (link ? [[link.sk, link]] : [])))
    const stored = new Map((await table.getMany([...links.values()])).map(({ sk, r }) => [sk, r]))
    for (const [at, link] of wanted.entries())
      if (link && (!isLinkable(kind) || stored.get(link.sk) !== link.r)) suspects.push(identified[at] as Item)
    await forEachConcurrent(suspects, (record) => examine(recheckRecord(kind, record)))
  }

  const recheckRecord =
    (kind: ImportedKind, { pk, sk }: Key): Recheck =>
    async () => {
      const key = { pk, sk }
      const record = await table.get(key)
      const wanted = await wantedLink(kind, record)
      if (!wanted) return null
      const link = { pk: wanted.pk, sk: wanted.sk }
      const stored = isLinkable(kind) ? await table.get(link) : undefined
      const other = isLinkable(kind) ? await table.get(LINKABLE[kind](clinic, wanted.sk)) : undefined
      if ((await table.get(key))?.v !== record?.v) return 'moving'
      if (stored?.r === wanted.r) return null
      // The external id of an imported record is wrong, or another record has the same one.
      if (!isLinkable(kind) || stored || other)
        return { differences: [{ kind: 'external_id_wrong', key }], repair: null }
      return {
        differences: [{ kind: 'external_id_missing', key }],
        repair: () => table.transact([table.putWrite(wanted, 'new'), requireUnchanged(table, key, record)]),
      }
    }

  /** Verifies that every link names a record with its external id, and that the secret of external ids is there. */
  async function checkLinks(): Promise<void> {
    await examine(async () => {
      if (await readIds()) return null
      return { differences: [{ kind: 'secret_missing', key: externalIdSecretKey(clinic) }], repair: null }
    })
    if (!(await readIds())) return
    for await (const links of partitionPages(table, externalIdLinksPartition(clinic)))
      await forEachConcurrent(links, (link) => examine(recheckLink(link)))
  }

  const recheckLink =
    ({ pk, sk }: Key): Recheck =>
    async () => {
      const link = await table.get({ pk, sk })
      if (!link) return null
      const keys = KINDS.map((kind) => LINKABLE[kind](clinic, String(link.r)))
      const read = () => Promise.all(keys.map((key) => table.get(key)))
      const records = await read()
      const wanted = await Promise.all(
        records.map((record, at) => wantedLink(KINDS[at] as LinkableKind, record)),
      )
      const again = await read()
      if (again.some((record, at) => record?.v !== records[at]?.v)) return 'moving'
      if (wanted.some((one) => one?.sk === sk)) return null
      const finding: Finding = { differences: [{ kind: 'external_id_stray', key: { pk, sk } }], repair: null }
      // The link of a record that does not exist may be all that is left of it.
      if (records.every((record) => !record)) return finding
      const unchanged = keys.map((key, at) => requireUnchanged(table, key, records[at]))
      return { ...finding, repair: () => table.transact([table.deleteWrite({ pk, sk }), ...unchanged]) }
    }

  return { check, checkLinks }
}
