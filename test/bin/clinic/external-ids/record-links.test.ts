import { beforeEach, describe, expect, it } from 'vitest'
import { replayErasures } from '../../../../shared/maintenance/restore/erasure-replay.ts'
import { erasureLedger } from '../../../../shared/store/copies/erasure-ledger.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { readImportIds } from '../../../../shared/store/external-ids/derive.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { deployedTable, rejection } from '../../../support/deployed-stack.ts'
import { importRows } from '../../../support/imports.ts'
import { interruptedTable } from '../../../support/intercepted-table.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'
import { restored } from '../../../support/restored.ts'
import { aPatient, newClinic } from '../../../support/table.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const { db, run } = deployedTable()
let mine: PopulatedClinic
const folder = temporaryFolder()

beforeEach(async () => {
  mine = await createPopulatedClinic(db.table)
})

const command = (...args: string[]) => run(...args, '--clinic', mine.clinic.id)
const link = (id: string, externalId: string, kind = 'patient') =>
  command(kind, 'link', id, '--external-id', externalId)
const unlink = (id: string) => command('patient', 'unlink', id)

const load = (name: string, rows: object[], table: Table = db.table) =>
  importRows(folder, table, mine.clinic, name, rows)

const rowOf = ({ firstName, lastName }: { firstName: string; lastName: string }) => ({
  external_id: 'TR-1',
  first_name: firstName,
  last_name: lastName,
})
const appointmentRow = () => ({
  external_id: 'v',
  patient_external_id: 'TR-1',
  doctor_external_id: 'DR-1',
  appointment_date: '2026-03-02',
  start_time: '09:00',
  end_time: '09:30',
})

describe('a linked record', () => {
  it('is found by references and by rows of its own, which lose nothing that no import has written', async () => {
    expect((await link(mine.patient.id, 'TR-1')).code).toBe(0)
    expect((await link(mine.doctor.id, 'DR-1', 'doctor')).code).toBe(0)
    expect(await load('appointments', [appointmentRow()])).toMatchObject({ imported: 1, rejected: 0 })
    expect(await load('patients', [rowOf(mine.patient)])).toMatchObject({ imported: 0, unchanged: 1 })
    const renamed = { ...rowOf(mine.patient), last_name: 'Other' }
    expect(await load('patients', [renamed])).toMatchObject({ updated: 1 })
    const phone = { ...renamed, phone_number: '+491700000000' }
    expect(await load('patients', [phone])).toMatchObject({
      reasons: [expect.stringContaining('phone_number differs')],
    })
  })

  it('is one record for rows with its external id and with its own id', async () => {
    await link(mine.patient.id, 'TR-1')
    const both = [rowOf(mine.patient), { ...rowOf(mine.patient), external_id: mine.patient.id }]
    expect((await load('patients', both)).reasons).toEqual(['id is already used on line 1'])
  })

  it('keeps its external id out of the trail, and out of keys', async () => {
    const { lines } = await link(mine.patient.id, 'TR-1')
    expect(JSON.stringify(lines)).not.toContain('TR-1')
    expect(lines.at(-1)?.records).toEqual([mine.patient.id])
  })

  it('is another record once it is unlinked', async () => {
    await link(mine.patient.id, 'TR-1')
    expect((await unlink(mine.patient.id)).code).toBe(0)
    expect(await load('patients', [rowOf(mine.patient)])).toMatchObject({ imported: 1 })
    expect(await unlink(mine.patient.id)).toMatchObject({
      code: 0,
      printed: 'Nothing changed: the patient has no external id\n',
    })
  })
})

describe('a linked patient who is erased', () => {
  const { firstName, lastName } = aPatient()
  const imported = () => load('patients', [rowOf({ firstName, lastName })])
  const erase = (id = mine.patient.id) => patientChanges(db.table).erase(mine.clinic.id, id)

  /** A table of the time before a link, and the ledger after the erasure of the linked patient. */
  async function erasedSince() {
    const target = await restored(db)
    await link(mine.patient.id, 'TR-1')
    await erase()
    return { target, ledger: await erasureLedger(db).list(mine.clinic.id) }
  }

  it('is not created by an import, after a restore to the time before the link', async () => {
    const { target, ledger } = await erasedSince()
    expect(ledger).toMatchObject([{ patient: mine.patient.id, importIds: [expect.any(String)] }])

    await replayErasures(target.table, mine.clinic.id, ledger)
    expect(await erasureLedger(target).list(mine.clinic.id)).toEqual(ledger)
    const row = rowOf(mine.patient)
    const { rejected, reasons } = await load('patients', [row], target.table)
    expect([rejected, reasons]).toEqual([1, ['the patient was erased']])
    const lost = await newClinic(target.table)
    await replayErasures(target.table, lost.id, ledger)
    expect(await erasureLedger(target).list(lost.id)).toEqual(ledger)
  })

  it('is not created by an import, when the ledger had the erasure before the link was known', async () => {
    const { target, ledger } = await erasedSince()
    const unlinked = ledger.map((one) => ({ ...one, importIds: [] }))
    await replayErasures(target.table, mine.clinic.id, unlinked)
    await replayErasures(target.table, mine.clinic.id, ledger)
    expect(await load('patients', [rowOf(mine.patient)], target.table)).toMatchObject({ rejected: 1 })
  })

  it('is not created by an import, after the link was removed', async () => {
    await link(mine.patient.id, 'TR-1')
    await load('patients', [rowOf(mine.patient)])
    await unlink(mine.patient.id)
    await erase()
    expect(await imported()).toMatchObject({ imported: 0, rejected: 1 })
  })

  it('leaves an external id to the patient who got it since', async () => {
    const other = aPatient()
    await patientWriter(db).createMany(mine.clinic.id, [other])
    await link(mine.patient.id, 'TR-1')
    await unlink(mine.patient.id)
    await link(other.id, 'TR-1')
    await erase()
    expect(await erasureLedger(db).list(mine.clinic.id)).toMatchObject([{ importIds: [] }])
    expect(await load('patients', [rowOf(other)])).toMatchObject({ rejected: 0 })
  })

  it('leaves an external id to the patient whom an import made with it since, and keeps the erasure of that one', async () => {
    await link(mine.patient.id, 'TR-1')
    await unlink(mine.patient.id)
    expect(await imported()).toMatchObject({ imported: 1 })
    await erase((await readImportIds(db.table, mine.clinic.id))('patient', 'TR-1'))
    const before = await erasureLedger(db).list(mine.clinic.id)
    await erase()
    expect(await erasureLedger(db).list(mine.clinic.id)).toMatchObject([
      ...before,
      { patient: mine.patient.id, importIds: [] },
    ])
  })
})

describe('an external id', () => {
  it('that is imported or linked already is rejected', async () => {
    await load('patients', [rowOf(mine.patient)])
    const imported = (await readImportIds(db.table, mine.clinic.id))('patient', 'TR-1')
    expect(await rejection(link(mine.patient.id, 'TR-1'))).toContain(`belongs to patient ${imported}`)
    await link(mine.patient.id, 'TR-2')
    expect((await link(mine.patient.id, 'TR-2')).printed).toContain('has this external id already')
    expect((await link(mine.patient.id, 'TR-3')).errors).toContain('has another external id')
    expect((await unlink(imported)).errors).toContain('was made by an import')
  })

  it('is rejected when it is imported while it is linked, and an import ends when it is linked at the same time', async () => {
    const linkNow = () => link(mine.patient.id, 'TR-1')
    const racing = interruptedTable(db.table, linkNow)
    await expect(load('patients', [rowOf(mine.patient)], racing)).rejects.toThrow('import the file again')
    expect(await load('patients', [rowOf(mine.patient)])).toMatchObject({ imported: 0, unchanged: 1 })
    await unlink(mine.patient.id)
    await load('patients', [rowOf(mine.patient)])
    expect(await rejection(linkNow())).toContain('belongs to patient')
  })
})

describe('a row with the id of a record', () => {
  it('changes an imported record, whatever the row that made it', async () => {
    await load('patients', [rowOf(mine.patient)])
    const id = (await readImportIds(db.table, mine.clinic.id))('patient', 'TR-1')
    const row = { id, first_name: 'New', last_name: 'Name' }
    expect(await load('patients', [row])).toMatchObject({ updated: 1 })
    const both = [row, { ...rowOf(mine.patient) }]
    expect(await load('patients', both)).toMatchObject({
      unchanged: 1,
      reasons: ['external_id is already used on line 1'],
    })
  })

  it('changes the record, also an imported one, if its external id is the id of the record', async () => {
    await load('patients', [rowOf(mine.patient)])
    const id = (await readImportIds(db.table, mine.clinic.id))('patient', 'TR-1')
    const row = { external_id: id.toUpperCase(), first_name: 'New', last_name: 'Name' }
    expect(await load('patients', [row])).toMatchObject({ imported: 0, updated: 1 })
  })

  it.each([
    [{ id: '1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b' }, 'id is unknown'],
    [{ id: 'x' }, 'id must be the id of a record'],
    [
      { id: '1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b', external_id: 'TR-1' },
      'external_id and id are both given',
    ],
    [{}, 'external_id is required'],
  ])('is rejected for %j', async (ids, reason) => {
    const row = { first_name: 'New', last_name: 'Name', ...ids }
    expect(await load('patients', [row])).toMatchObject({ reasons: [expect.stringContaining(reason)] })
  })
})
