import { externalIds, LINKABLE, type LinkableKind } from '../../store/external-ids/links.ts'
import { externalIdLinksPartition } from '../../store/keys/external-ids.ts'
import type { Item } from '../../store/table/write-requests.ts'
import { forEachConcurrent } from '../walk/for-each-concurrent.ts'
import { partitionPages } from '../walk/partition-pages.ts'
import { requireUnchanged } from './comparison/conditions.ts'
import type { Recheck } from './comparison/difference.ts'
import type { Inspection } from './comparison/inspection.ts'
import { keyText } from './comparison/record-image.ts'

const KINDS = Object.keys(LINKABLE) as LinkableKind[]

/** Verifies that every record with an external id is found by it, and no other is. */
export async function checkExternalIds({ table, clinic, count, examine }: Inspection): Promise<void> {
  const { linkOf } = externalIds({ table })

  /** The link that a record requires; null for none. */
  const wantedLink = async (kind: LinkableKind, record: Item | undefined): Promise<Item | null> =>
    typeof record?.xi === 'string' ? linkOf(clinic, kind, { id: record.sk, externalId: record.xi }) : null

  for (const kind of KINDS)
    for await (const records of partitionPages(table, LINKABLE[kind](clinic, '').pk)) {
      const wanted = (await Promise.all(records.map((record) => wantedLink(kind, record)))).filter(
        (link) => link !== null,
      )
      count('external_ids', wanted.length)
      const stored = new Map((await table.getMany(wanted)).map((item) => [keyText(item), item]))
      const suspects = wanted.filter((link) => stored.get(keyText(link))?.r !== link.r)
      await forEachConcurrent(suspects, ({ r }) => examine(recheckMissing(kind, r as string)))
    }
  for await (const links of partitionPages(table, externalIdLinksPartition(clinic)))
    await forEachConcurrent(await withoutRecord(links), (link) => examine(recheckStray(link)))

  async function withoutRecord(links: readonly Item[]): Promise<Item[]> {
    const isWanted = new Set<string>()
    for (const kind of KINDS)
      for (const record of await table.getMany(links.map(({ r }) => LINKABLE[kind](clinic, r as string)))) {
        const wanted = await wantedLink(kind, record)
        if (wanted) isWanted.add(`${wanted.sk} ${wanted.r}`)
      }
    return links.filter(({ sk, r }) => !isWanted.has(`${sk} ${r}`))
  }

  function recheckMissing(kind: LinkableKind, id: string): Recheck {
    return async () => {
      const key = LINKABLE[kind](clinic, id)
      const record = await table.get(key)
      const wanted = await wantedLink(kind, record)
      const stored = wanted && (await table.get({ pk: wanted.pk, sk: wanted.sk }))
      if ((await table.get(key))?.v !== record?.v) return 'moving'
      if (!wanted || stored?.r === wanted.r) return null
      return {
        differences: [{ kind: 'external_id_missing', key }],
        repair: () => table.transact([table.putWrite(wanted), requireUnchanged(table, key, record)]),
      }
    }
  }

  function recheckStray({ pk, sk }: Item): Recheck {
    return async () => {
      const link = await table.get({ pk, sk })
      if (!link || (await withoutRecord([link])).length === 0) return null
      const keys = KINDS.map((kind) => LINKABLE[kind](clinic, link.r as string))
      const records = await Promise.all(keys.map((key) => table.get(key)))
      if ((await withoutRecord([link])).length === 0) return 'moving'
      const unchanged = keys.map((key, at) => requireUnchanged(table, key, records[at]))
      return {
        differences: [{ kind: 'external_id_stray', key: { pk, sk } }],
        repair: () => table.transact([table.deleteWrite({ pk, sk }), ...unchanged]),
      }
    }
  }
}
