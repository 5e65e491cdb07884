import { keysOf } from '../../../domain/keys-of.ts'
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
import { partitionPages } from '../../walk/partition-pages.ts'
import { type Finding, findingOf, type Inspection } from './inspection.ts'
import type { Snapshot } from './snapshot.ts'

const KINDS = keysOf(LINKABLE)

/** Verifies that every record with an external id is found by it: its id follows from the external id, or a link names it. */
export function externalIdChecker({ table, clinic, count, examine, examineAll }: Inspection) {
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
    await examineAll(suspects, ({ pk, sk }, read) => recheckRecord(kind, { pk, sk }, read))
  }

  async function recheckRecord(kind: ImportedKind, key: Key, read: Snapshot): Promise<Finding | null> {
    const record = await read.get(key)
    const wanted = await wantedLink(kind, record)
    if (!wanted) return null
    const wrong = findingOf('external_id_wrong', key)
    if (!isLinkable(kind)) return wrong
    const stored = await read.get({ pk: wanted.pk, sk: wanted.sk })
    if (stored?.r === wanted.r) return null
    // The external id of an imported record is wrong, or another record has the same one.
    if (stored || (await read.get(LINKABLE[kind](clinic, wanted.sk)))) return wrong
    const repair = () => read.write([table.putWrite(wanted)])
    return findingOf('external_id_missing', key, repair)
  }

  /** Verifies that every link names a record with its external id, and that the secret of external ids is there. */
  async function checkLinks(): Promise<void> {
    const key = externalIdSecretKey(clinic)
    await examine(async () => ((await readIds()) ? null : findingOf('secret_missing', key)))
    if (!(await readIds())) return
    for await (const links of partitionPages(table, externalIdLinksPartition(clinic)))
      await examineAll(links, recheckLink)
  }

  async function recheckLink({ pk, sk }: Key, read: Snapshot): Promise<Finding | null> {
    const link = await read.get({ pk, sk })
    if (!link) return null
    const records = await Promise.all(KINDS.map((kind) => read.get(LINKABLE[kind](clinic, String(link.r)))))
    const wanted = await Promise.all(
      records.map((record, at) => wantedLink(KINDS[at] as LinkableKind, record)),
    )
    if (wanted.some((one) => one?.sk === sk)) return null
    // The link may be all that is left of a record, or of its external id: without it, an import would create the record again.
    return findingOf('external_id_stray', link)
  }

  return { check, checkLinks }
}
