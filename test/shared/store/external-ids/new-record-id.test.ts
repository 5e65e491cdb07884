import { expect, it } from 'vitest'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { readImportIds } from '../../../../shared/store/external-ids/derive.ts'
import { newRecordId } from '../../../../shared/store/external-ids/new-record-id.ts'
import { ExternalIdTaken } from '../../../../shared/store/table/errors.ts'
import { newClinic, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()

it('derives the id of a new record from its external id, unless a record has that id or the external id', async () => {
  const { id: clinic } = await newClinic(db.table)
  const [id, own] = [newUuid(), newUuid()]
  const idWith = (externalId: string | null | undefined, ...present: string[]) =>
    newRecordId(db.table, clinic, 'room', { id, externalId }, async (one) => present.includes(one))
  const derived = (await readImportIds(db.table, clinic))('room', 'R-1')
  expect([await idWith(null), await idWith(undefined), await idWith('R-1', own)]).toEqual([id, id, derived])
  await expect(idWith('R-1', derived)).rejects.toEqual(new ExternalIdTaken(derived))
  await expect(idWith(own.toUpperCase(), own)).rejects.toEqual(new ExternalIdTaken(own))
})
