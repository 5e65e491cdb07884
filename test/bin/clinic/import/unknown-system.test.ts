/** The examples of docs/import.md and docs/operate/moving-in.md: files of other systems, and their maps. */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { deployedTable } from '../../../support/deployed-stack.ts'
import { newClinic } from '../../../support/table.ts'

const { db, run } = deployedTable()
const folder = mkdtempSync(join(tmpdir(), 'unknown-system-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

const guide = readFileSync('docs/operate/moving-in.md', 'utf8')
const PAGE = { page: 1, limit: 10 }

it('the files of the guide are imported with the suggested map, in which one word is edited', async () => {
  cpSync('docs/operate/unknown-system', folder, { recursive: true })
  const files = ['Pacjenci.csv', 'Wizyty.txt', 'Faktury.csv', 'Wplaty.csv'].map((name) => join(folder, name))
  const map = join(folder, 'map.json')
  const suggested = await run('import', '--yes', '--suggest', ...files)
  expect(guide).toContain(suggested.printed.split('\n').slice(0, -2).join('\n   '))
  expect((await run('import', '--yes', '--suggest', ...files)).errors).toContain('map.json exists already')
  writeFileSync(map, readFileSync(map, 'utf8').replace('"przyjęta": "?"', '"przyjęta": "completed"'))

  const clinic = await newClinic(db.table, { currency: 'PLN' })
  const load = (...options: string[]) =>
    run('import', '--yes', '--clinic', clinic.id, '--map', map, ...options, ...files)
  const checked = await load('--check')
  expect(guide).toContain(checked.printed.split('\n').slice(2, 7).join('\n   '))
  const { code, printed } = await load('--json')
  expect(code).toBe(1)
  expect(JSON.parse(printed).data).toMatchObject({ imported: 2 + 5 + 4 + 2 + 3, rejected: 3 })
  const patients = (await patientStore(db).page(clinic.id, PAGE)).items.map((one) => [
    `${one.firstName} ${one.lastName}`,
    one.dateOfBirth,
    one.phoneNumber,
  ])
  expect(patients.reverse()).toEqual([
    ['Małgorzata Dąbrowska', '1945-05-03', '+48512345601'],
    ['Łukasz Wójcik', '1978-11-14', '+48225550102'],
    ['Anna Maria Świątek', '2002-01-30', '+48512345603'],
    ['Paweł Źrebiec', '1961-09-07', null],
    ['Zofia Żak', null, '+48512345605'],
  ])
  const invoices = await invoiceStore(db).page(clinic.id, {}, PAGE)
  expect(invoices.items.map(({ number, total, paid }) => [number, total, paid])).toEqual([
    ['FV/2/2025', 20_000, 5_000],
    ['FV/1/2025', 230_100, 230_100],
  ])
  expect(existsSync(join(folder, 'Wizyty.appointments.rejected.txt'))).toBe(true)
  expect(existsSync(join(folder, 'Wizyty.doctors.rejected.txt'))).toBe(false)
})

it('the spreadsheets of docs/import.md are imported with their map', async () => {
  const spreadsheets = join(folder, 'spreadsheet')
  cpSync('docs/examples/spreadsheet', spreadsheets, { recursive: true })
  cpSync('docs/examples/clinic/doctors.csv', join(spreadsheets, 'doctors.csv'))
  const clinic = await newClinic(db.table)
  const load = (...args: string[]) => run('import', '--yes', '--json', '--clinic', clinic.id, ...args)
  expect(await load(join(spreadsheets, 'doctors.csv'))).toMatchObject({ code: 0 })
  const files = ['Patienten.csv', 'Termine.csv'].map((name) => join(spreadsheets, name))
  const { code, printed } = await load('--map', join(spreadsheets, 'map.json'), ...files)
  expect([code, JSON.parse(printed).data]).toMatchObject([0, { imported: 4, warnings: 0 }])
})
