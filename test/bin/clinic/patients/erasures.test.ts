/** The ledger of erasures, and replaying it in a table that was restored to the time before them. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { readErasures } from '../../../../bin/clinic/patients/erasures.ts'
import { CommandFailure } from '../../../../bin/clinic/tool/output.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { replayErasures } from '../../../../shared/maintenance/restore/erasure-replay.ts'
import { erasureLedger } from '../../../../shared/store/copies/erasure-ledger.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { filledPatient } from '../../../support/filled-records.ts'
import { crashingTable } from '../../../support/intercepted-table.ts'
import { createPopulatedClinic } from '../../../support/records.ts'
import { restored } from '../../../support/restored.ts'
import { freshTable, type TestTable } from '../../../support/table.ts'
import { tableText } from '../../../support/table-text.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { appointment, importedClinic } from '../import/calendar-fixtures.ts'

const AT = '2026-05-01T07:00:00.000Z'
const by = { at: AT, operator: 'arn:aws:sts::1:assumed-role/operator/eva', importIds: [] }
/** The filled patient has an external id that no import has set. */
const linked = { importIds: [expect.any(String)] }
const CANARY = /canar/

let db: TestTable
let clinic: ClinicId
let patient: string
beforeEach(async () => {
  db = await freshTable()
  const created = await createPopulatedClinic(db.table, filledPatient())
  clinic = created.clinic.id
  patient = created.patient.id
})

const erase = (table: Table) => patientChanges(table).erase(clinic, patient, by)

const ledgerOf = ({ table }: TestTable) => erasureLedger({ table }).list(clinic)

describe('the ledger of erasures', () => {
  it('has an interrupted erasure from its first transaction on, and keeps its time when it is completed', async () => {
    await expect(erase(crashingTable(db.table))).rejects.toThrow('crash')
    expect(await ledgerOf(db)).toEqual([{ patient, ...by, ...linked, isFinished: false }])

    await patientChanges(db.table).erase(clinic, patient, { operator: 'other' })
    expect(await ledgerOf(db)).toEqual([{ patient, ...by, ...linked, isFinished: true }])
    expect(await tableText(db)).not.toMatch(CANARY)
  })
})

describe('a replay in a restored table', () => {
  it('completes an erasure that was in progress at the restored time', async () => {
    let isBegun = false
    const crashing: Table = {
      ...db.table,
      tryTransact: async (writes) => {
        await db.table.tryTransact(writes)
        isBegun = true
      },
      query: (range) => (isBegun ? Promise.reject(new Error('crash')) : db.table.query(range)),
    }
    await expect(erase(crashing)).rejects.toThrow('crash')
    const target = await restored(db)
    expect(await tableText(target)).toMatch(CANARY)
    expect(await replayErasures(target.table, clinic, await ledgerOf(db))).toMatchObject({ erased: 1 })
    expect(await tableText(target)).not.toMatch(CANARY)
  })
})

describe('a patient who was created after the restored time', () => {
  const imported = importedClinic()

  it('is not created again by an export from before the erasure, which has the own id of a patient of the API', async () => {
    const { table } = imported.db
    const [api, other] = [newUuid(), newUuid()]
    await replayErasures(table, imported.clinic.id, [{ patient: api, ...by, isFinished: true }])
    const person = { first_name: 'Canarella', last_name: 'Kaya' }
    const rows = [
      { external_id: api.toUpperCase(), ...person },
      { external_id: other, first_name: 'Bo', last_name: 'Lind' },
    ]
    expect(await imported.load('patients', rows)).toMatchObject({
      imported: 1,
      rejected: 1,
      reasons: ['the patient was erased'],
    })
    const appointments = [api, other].map((patient_external_id) => ({
      ...appointment,
      external_id: patient_external_id,
      patient_external_id,
    }))
    expect((await imported.load('appointments', appointments)).reasons).toEqual([
      'patient_external_id is unknown: the clinic has no such patient, or its row was rejected',
    ])
    expect(await tableText(imported.db)).not.toMatch(/canarella/i)
  })
})

describe('a file of erasures', () => {
  const folder = temporaryFolder()
  const path = join(folder, 'erasures.ndjson')
  const write = (...lines: object[]) =>
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))

  it('is read as the ledger was written, for one clinic', () => {
    const line = { clinic_id: clinic, patient_id: patient, erased_at: '2026-05-01T10:00:00+03:00' }
    const other = { ...line, clinic_id: newUuid(), operator: by.operator }
    const linked = newUuid()
    write({ ...line, operator: by.operator, import_ids: [linked], is_finished: true }, other)
    expect(readErasures(path, clinic)).toEqual([{ patient, ...by, importIds: [linked], isFinished: true }])
    write({ ...line, operator: by.operator, is_finished: true })
    expect(readErasures(path, clinic)).toEqual([{ patient, ...by, isFinished: true }])
  })

  it('may be the access trail, of which only completed erasures count', () => {
    const line = { clinic_id: clinic, command: 'patient erase', records: [patient], timestamp: AT }
    const { operator } = by
    write(
      { ...line, operator, outcome: 'started' },
      { ...line, operator, outcome: 'done' },
      { ...line, operator, outcome: 'done', command: 'patient update' },
      { ...line, credential: 'ck_1', route: 'get-patient', command: undefined },
    )
    expect(readErasures(path, clinic)).toEqual([{ patient, ...by, isFinished: true }])
  })

  it('is rejected with the line that is not JSON', () => {
    writeFileSync(path, '{}\nnope\n')
    expect(() => readErasures(path, clinic)).toThrow(new CommandFailure(`${path}:2: is not JSON`))
  })
})
