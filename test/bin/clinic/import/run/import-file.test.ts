import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { fileEntities } from '../../../../../bin/clinic/import/run/file-entities.ts'
import type { Clinic } from '../../../../../shared/domain/clinic.ts'
import type { Patient } from '../../../../../shared/domain/patients/patient.ts'
import { patientStore } from '../../../../../shared/store/patients/patients.ts'
import { UnavailableError } from '../../../../../shared/store/table/errors.ts'
import type { ImportableEntity } from '../../../../../shared/sync/entities/entity.ts'
import { importAlone, importRecords } from '../../../../support/imports.ts'
import { NOW, newClinic, tableOfFile } from '../../../../support/table.ts'
import { temporaryFolder } from '../../../../support/temporary-folder.ts'

const db = tableOfFile()
let clinic: Clinic
const folder = temporaryFolder()

beforeEach(async () => {
  clinic = await newClinic(db.table)
})

/** Imports a file of this name and content. Returns the counts, and the rejected rows as `line: reason`. */
async function imported(name: string, content: string | Buffer) {
  const file = join(folder, name)
  writeFileSync(file, content)
  return importRecords(db.table, clinic, name.split(/[-.]/)[0] ?? '', file)
}

const patients = async (): Promise<Patient[]> =>
  (await patientStore(db).page(clinic.id, { page: 1, limit: 100 })).items

const HEADER = 'external_id,first_name,last_name,phone_number,email_address,date_of_birth,gender\n'

describe('importing patients from CSV', () => {
  it('creates them in file order, so that the last row is listed first', async () => {
    const rows = Array.from({ length: 130 }, (_, n) => `${n},First${n},Last${n},,,,\n`).join('')
    expect(await imported('patients.csv', HEADER + rows)).toMatchObject({ imported: 130, rejected: 0 })
    expect((await patients()).map(({ firstName }) => firstName).slice(0, 3)).toEqual([
      'First129',
      'First128',
      'First127',
    ])
  })

  it('imports the first of two rows with one id, and rejects the second with the line of the first', async () => {
    const file = `${HEADER}1,Jo,Doe,,,,\n2,Al,Roe,,,,\n1,Other,Name,,,,\n`
    expect(await imported('patients.csv', file)).toMatchObject({
      imported: 2,
      rejected: 1,
      rejections: ['4: external_id is already used on line 2'],
    })
    // Also when the first is there already and does not change.
    expect(await imported('patients.csv', file)).toMatchObject({ updated: 0, unchanged: 2, rejected: 1 })
    expect((await patients()).map(({ firstName }) => firstName)).toEqual(['Al', 'Jo'])
  })

  it('reports rejected rows in the order of their lines, whichever check rejects them', async () => {
    await imported('patients.csv', `${HEADER}p,Jo,Doe,,,,\n`)
    const lines = ['1,p,SENT', '2,unknown,PENDING', '3,p,nonsense', '4,unknown,PENDING', '5,p,nonsense'].map(
      (row) => {
        const [id, patient, status] = row.split(',')
        return `${id},${patient},${id},2026-04-01,1,${status?.toLowerCase()}\n`
      },
    )
    const header = 'external_id,patient_external_id,invoice_number,issue_date,subtotal,status\n'
    const { rejections, imported: count } = await imported('invoices.csv', header + lines.join(''))
    expect(count).toBe(1)
    expect(rejections.map((text) => text.split(':')[0])).toEqual(['3', '4', '5', '6'])
  })

  it('reports once that it waits for the store', async () => {
    const file = join(folder, 'patients.csv')
    writeFileSync(file, `${HEADER}1,Jo,Doe,,,,\n`)
    const entity = fileEntities(db.table, () => NOW).find(
      ({ name }) => name === 'patients',
    ) as ImportableEntity<unknown>
    const write = vi
      .fn(entity.write)
      .mockRejectedValueOnce(new UnavailableError('down'))
      .mockRejectedValueOnce(new UnavailableError('down'))
    const onWait = vi.fn()
    await importAlone(file, { ...entity, write }, clinic, { now: () => NOW, onWait })
    expect(write).toHaveBeenCalledTimes(3)
    expect(onWait).toHaveBeenCalledTimes(1)
  })
})

describe('importing patients from NDJSON', () => {
  it('joins a line that is read in several parts', async () => {
    const blank = ' '.repeat(100_000)
    const file = `{"external_id":1,"first_name":"Jo",${blank}"last_name":"Doe"}\n`
    expect(await imported('patients.ndjson', file)).toMatchObject({ imported: 1, rejections: [] })
  })

  it('reads numbers as ids, keeps U+2028 inside a string, and skips empty lines', async () => {
    const file =
      '\uFEFF{"external_id":1,"first_name":"Jo","last_name":"A\u2028B"}\r\n\n{"external_id":"2","first_name":"Al","last_name":"Roe","phone_number":null}'
    expect(await imported('patients.ndjson', file)).toMatchObject({ imported: 2, rejections: [] })
  })

  it.each([
    [
      'a cut last line',
      '{"external_id":1,"first_na',
      '1: is not JSON; the file may be truncated in this last line',
    ],
    ['a list', '[1]\n', '1: is not a JSON object'],
    ['a number', '1\n', '1: is not a JSON object'],
    [
      'a name that is a number',
      '{"external_id":1,"last_name":"Doe","first_name":7}',
      '1: first_name must be text',
    ],
  ])('rejects %s', async (_, content, reason) => {
    const result = await imported('patients.ndjson', content)
    expect(result.imported).toBe(0)
    expect(result.rejections[0]).toBe(reason)
  })
})
