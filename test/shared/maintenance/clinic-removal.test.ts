/** The deletion of a clinic: nothing is left of it but the ledger, whenever the deletion was stopped, and others are untouched. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { fileEntities } from '../../../bin/clinic/import/run/file-entities.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { removeClinic } from '../../../shared/maintenance/clinic-removal.ts'
import { WalkTaken } from '../../../shared/maintenance/walk/walk.ts'
import { ClinicBeingDeleted, clinicStore } from '../../../shared/store/clinics.ts'
import { deletedClinics } from '../../../shared/store/copies/deleted-clinics.ts'
import { patientChanges } from '../../../shared/store/copies/patient-changes.ts'
import { credentialUse } from '../../../shared/store/credential-use.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import { readImportIds } from '../../../shared/store/external-ids/derive.ts'
import { clinicCredentialKey, clinicKey } from '../../../shared/store/keys/clinics.ts'
import { shortId } from '../../../shared/store/keys/key.ts'
import { providerMessageKey } from '../../../shared/store/keys/messages.ts'
import type { Item } from '../../../shared/store/table/write-requests.ts'
import type { ImportableEntity, ImportRow, ImportRun } from '../../../shared/sync/entities/entity.ts'
import { itemsWith } from '../../support/all-items.ts'
import { removalPlatform } from '../../support/clinic-removal.ts'
import { issueCredential } from '../../support/credentials.ts'
import { addChangesOfOneRecord, createWebhook } from '../../support/deliveries.ts'
import { createAcceptedEmail } from '../../support/emails.ts'
import { importAlone } from '../../support/imports.ts'
import { createPopulatedClinic } from '../../support/records.ts'
import { freshTable, newClinic, type TestTable } from '../../support/table.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let db: TestTable
let clinic: Clinic
let keys: string[]
let other: Clinic

/** A clinic with items of every family of keys. */
async function fullClinic(): Promise<{ clinic: Clinic; key: string }> {
  const world = await createPopulatedClinic(db.table)
  const { clinic: made, patient } = world
  const credential = await issueCredential(db.table, made)
  const uses = credentialUse({ table: db.table, now: Date.now })
  await uses.countRequest(credential)
  await uses.recordUse(credential)
  await createAcceptedEmail(db.table, made, patient, Date.now())
  await readImportIds(db.table, made.id)
  await addChangesOfOneRecord(db.table, made, await createWebhook(db.table, made.id), 2)
  await db.table.putMany([
    { ...providerMessageKey('sns', `id-${made.id.slice(-6)}`), c: made.id, m: world.message.id },
  ])
  await patientChanges(db.table).erase(made.id, patient.id, { operator: 'test' })
  return { clinic: made, key: credential.key }
}

beforeEach(async () => {
  db = await freshTable()
  const [first, second] = [await fullClinic(), await fullClinic()]
  clinic = first.clinic
  other = second.clinic
  keys = [first.key, second.key]
})

/** The table as a deletion sees it. */
const later = () => removalPlatform(db).table

/** The table half a minute later, with something that happens before each write. */
function laterBefore(write: (number: number) => Promise<void>): TestTable['table'] {
  const table = later()
  let count = 0
  const intercepted =
    <Args extends unknown[], Result>(act: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await write(++count)
      return act(...args)
    }
  return {
    ...table,
    update: intercepted(table.update),
    transact: intercepted(table.transact),
    tryTransact: intercepted(table.tryTransact),
    deleteMany: intercepted(table.deleteMany),
  }
}

const platform = (send?: TestTable['client']['send']) => removalPlatform(db, send)

describe('the deletion of a clinic', () => {
  it('leaves nothing but the ledger of erasures, and every item of other clinics', async () => {
    const before = await itemsWith(db, shortId(other.id), other.id, keys[1] as string)
    const families = new Set(
      (await itemsWith(db, shortId(clinic.id), clinic.id, keys[0] as string)).map(({ pk }) =>
        pk.includes('#') && !pk.startsWith(shortId(clinic.id)) ? pk.split('#')[0] : pk.split('#')[1],
      ),
    )
    expect([...families]).toEqual(
      expect.arrayContaining(['credential', 'usage', 'import', 'provider', 'due', 'P', 'M']),
    )
    expect(await removeClinic(platform(), clinic)).toBeGreaterThan(40)
    const left = await itemsWith(db, shortId(clinic.id), clinic.id, keys[0] as string)
    expect(left.map(({ pk }) => pk).sort()).toEqual(
      ['erasure#clinics', `erasure#${shortId(clinic.id)}`].sort(),
    )
    expect(await itemsWith(db, shortId(other.id), other.id, keys[1] as string)).toEqual(before)
    expect(await deletedClinics(db).find(clinic.id)).toEqual({ at: expect.any(String), operator: 'eva' })
    expect(await deletedClinics(db).find(other.id)).toBeNull()
  })

  it('deletes a credential that the list of the clinic lacks', async () => {
    await db.table.deleteMany([clinicCredentialKey(clinic.id, keys[0] as string)])
    await removeClinic(platform(), clinic)
    expect(await itemsWith(db, keys[0] as string)).toEqual([])
  })

  it('revokes the credentials before anything else is deleted, and waits for writes that had begun', async () => {
    const seen: (string | null | undefined)[] = []
    const waits: number[] = []
    await removeClinic(
      {
        ...platform(async (command: never) => {
          const credential = await credentialStore({ table: db.table, now: Date.now }).find(keys[0] as string)
          seen.push(credential?.revokedAt)
          return db.client.send(command)
        }),
        sleep: async (ms) => waits.push(ms),
      },
      clinic,
    )
    expect(seen.length).toBeGreaterThan(0)
    expect(seen).not.toContain(null)
    expect(waits).toEqual([expect.closeTo(20_000, -4)])
  })

  it('can be repeated after it was stopped at any write', async () => {
    for (let writes = 1; ; writes += 4) {
      const stopped = laterBefore(async (number) => {
        if (number >= writes) throw new Error('stopped')
      })
      const current = (await clinicStore(db).find(clinic.id)) as Clinic
      const isDone = await removeClinic({ ...platform(), table: stopped }, current).then(
        () => true,
        () => false,
      )
      if (isDone) break
      expect(await clinicStore(db).find(clinic.id)).not.toBeNull()
    }
    expect((await itemsWith(db, shortId(clinic.id), clinic.id, keys[0] as string)).length).toBe(2)
  })

  it('rejects new credentials and changes of the clinic from its beginning', async () => {
    const rejected: unknown[] = []
    const attempt = (work: Promise<unknown>) =>
      rejected.push(work.catch((error: Error) => error.name + error.message))
    const query: TestTable['table']['query'] = async (range) => {
      const rows = await db.table.query(range)
      attempt(issueCredential(db.table, clinic))
      attempt(clinicStore(db).update(clinic.id, { pausedAt: null }))
      await Promise.all(rejected)
      return rows
    }
    await removeClinic({ ...platform(), table: { ...later(), query } }, clinic)
    const answers = new Set(await Promise.all(rejected))
    expect([...answers]).toEqual([
      `Errorclinic ${clinic.id} is being deleted`,
      `Errorclinic ${clinic.id} does not exist`,
    ])
    const left = await itemsWith(db, shortId(clinic.id), clinic.id, keys[0] as string)
    expect(left.map(({ pk }) => pk.split('#')[0])).toEqual(['erasure', 'erasure'])
  })

  it('deletes a credential that an earlier version of the tool issues until the end', async () => {
    let secret: { key: string; secret: string } | undefined
    const transact: TestTable['table']['transact'] = async (writes) => {
      const stored = await db.table.get(clinicKey(clinic.id))
      if (!stored) return db.table.transact(writes)
      // The earlier version knows of no deletion.
      const { deletingAt: _, ...item } = stored as Item & { deletingAt: string }
      await db.table.putMany([item])
      secret = await issueCredential(db.table, clinic)
      await db.table.transact(writes)
    }
    await removeClinic({ ...platform(), table: { ...later(), transact } }, clinic)
    const credentials = credentialStore({ table: db.table, now: Date.now })
    expect(secret && (await credentials.authenticate(secret))).toBeNull()
    expect((await itemsWith(db, shortId(clinic.id), clinic.id)).length).toBe(2)
  })

  it('ends with its clinic if another deletion ends first, at any of its writes, and leaves nothing', async () => {
    for (let writes = 1; ; writes++) {
      const shared = await newClinic(db.table)
      const { key } = await issueCredential(db.table, shared)
      let count = 0
      const slower = laterBefore(async (number) => {
        count = number
        // The lease of the slower one has expired.
        const table = { ...later(), now: () => Date.now() + 120_000 }
        if (number === writes) await removeClinic({ ...platform(), table }, shared)
      })
      const ended = await removeClinic({ ...platform(), table: slower }, shared).catch((error) => error)
      if (count < writes) break
      if (typeof ended !== 'number' && !(ended instanceof WalkTaken))
        expect(ended).toEqual(new ClinicBeingDeleted(shared.id, true))
      expect(await clinicStore(db).find(shared.id)).toBeNull()
      const left = await itemsWith(db, shortId(shared.id), shared.id, key)
      expect(left.map(({ pk }) => pk)).toEqual(['erasure#clinics'])
    }
  })

  it('ends an import that runs at the same time, which writes nothing after it', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'departments.ndjson')
    writeFileSync(
      file,
      Array.from({ length: 200 }, (_, i) => `{"external_id":${i},"name":"D ${i}"}\n`).join(''),
    )
    const entity = fileEntities(db.table, Date.now)[0] as ImportableEntity
    const write = vi.fn(async (run: ImportRun, batch: readonly ImportRow[]) => {
      if (write.mock.calls.length === 2) await removeClinic(platform(), clinic)
      await entity.write(run, batch)
    })
    const importing = importAlone(file, { ...entity, batchSize: 50, write }, clinic, { now: Date.now })
    await expect(importing).rejects.toThrow('does not exist')
    expect((await itemsWith(db, shortId(clinic.id), clinic.id)).length).toBe(2)
  })

  it('scans again until nothing is found, and says so if items are still being written', async () => {
    let scans = 0
    const send = async (command: never) => {
      const page = await db.client.send(command)
      if ((command as unknown) instanceof ScanCommand && ++scans <= 3)
        await db.table.putMany([{ pk: `${shortId(clinic.id)}#late`, sk: String(scans) }])
      return page
    }
    await removeClinic(platform(send as never), clinic)
    expect((await itemsWith(db, shortId(clinic.id))).length).toBe(1)

    const endless = async (command: never) => {
      await db.table.putMany([{ pk: `${shortId(other.id)}#late`, sk: String(++scans) }])
      return db.client.send(command)
    }
    await expect(removeClinic(platform(endless as never), other)).rejects.toThrow('still being written')
  })
})
