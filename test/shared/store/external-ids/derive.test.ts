import { createHash, createHmac } from 'node:crypto'
import { v5 } from 'uuid'
import { describe, expect, it } from 'vitest'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid, uuidOfDigest } from '../../../../shared/domain/uuid.ts'
import { importIdsOf, readImportIds } from '../../../../shared/store/external-ids/derive.ts'
import { externalIdSecretKey } from '../../../../shared/store/keys/external-ids.ts'
import { newClinicSecret } from '../../../../shared/store/table/secret.ts'
import { freshSdkTable, newClinic, tableOfFile } from '../../../support/table.ts'

const EXTERNAL_ID = '10000000146'

const db = tableOfFile(freshSdkTable)

describe('importIdsOf', () => {
  it('derives the same id of version 8 for the same secret, kind and external id', () => {
    const secret = Buffer.from('secret')
    expect(importIdsOf(secret)('patient', 'A-17')).toBe('8eb30468-ff2b-8345-8d66-97d4dcbeb8b2')
  })

  it('derives other ids for another secret, kind or external id', () => {
    const secret = newClinicSecret()
    const ids = [
      importIdsOf(secret)('patient', 'A-17'),
      importIdsOf(secret)('patient', 'A-18'),
      importIdsOf(secret)('doctor', 'A-17'),
      importIdsOf(newClinicSecret())('patient', 'A-17'),
    ]
    expect(new Set(ids).size).toBe(4)
  })
})

describe('the ids of imported records of a clinic', () => {
  it('are unrelated to those of another clinic', async () => {
    const [first, second] = [await newClinic(db.table), await newClinic(db.table)]
    const idIn = async ({ id }: { id: ClinicId }) =>
      (await readImportIds(db.table, id))('patient', EXTERNAL_ID)
    expect(await idIn(first)).not.toBe(await idIn(second))
    expect(await idIn(first)).toBe(await idIn(first))
  })

  it('cannot be derived from everything but the secret', async () => {
    const clinic = await newClinic(db.table)
    const id = (await readImportIds(db.table, clinic.id))('patient', EXTERNAL_ID)
    const name = `patient:${EXTERNAL_ID}`
    const keys = ['', clinic.id, clinic.id.replaceAll('-', ''), clinic.name, 'patient', name]
    const guesses = keys.flatMap((key) => [
      uuidOfDigest(createHmac('sha256', key).update(name).digest()),
      uuidOfDigest(
        createHash('sha256')
          .update(key + name)
          .digest(),
      ),
    ])
    expect([...guesses, v5(name, clinic.id)]).not.toContain(id)
    const { secret } = (await db.table.get(externalIdSecretKey(clinic.id))) as unknown as {
      secret: Uint8Array
    }
    expect(secret.length).toBe(32)
    expect(uuidOfDigest(createHmac('sha256', secret).update(name).digest())).toBe(id)
  })

  it('are derived from one secret when a clinic without a secret is first used by several processes', async () => {
    const clinic = newUuid() as ClinicId
    const derived = await Promise.all(Array.from({ length: 5 }, () => readImportIds(db.table, clinic)))
    expect(new Set(derived.map((idOf) => idOf('patient', EXTERNAL_ID))).size).toBe(1)
  })
})
