/** The examples of docs/examples/maps: exports of other systems, with their flaws, and the maps that read them. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, describe, expect, it } from 'vitest'
import { type SeededRandom, seeded } from '../../../../bin/demo/random.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { deployedTable } from '../../../support/deployed-stack.ts'
import { rounds } from '../../../support/scale.ts'
import { newClinic } from '../../../support/table.ts'

const { db, run } = deployedTable()
const folder = mkdtempSync(join(tmpdir(), 'map-examples-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

type Example = { readonly currency: string; readonly records: string; readonly rejected: string }

const EXAMPLES: Readonly<Record<string, Example>> = {
  jane: {
    currency: 'CAD',
    records: `
      1001, Maeve Tremblay, 1984-03-01, +14165550111, maeve.tremblay@example.com, female
      1002, Owen Chen, 1990-12-30, +16045550122, owen.chen@example.com, male
      1003, Anaïs Gagnon, 1979-07-15, +15145550133, -, female
      1004, Idris Okafor, 2001-02-28, +14165550144, idris@example.com, male
      1005, Rosa O'Neill, -, -, rosa.oneill@example.com, other
      1006, Wen Smith, Jr., 1966-10-09, +14165550166, wen.smith@example.com, male
      1008, Tom Beaulieu, 1988-08-08, +14165550188, -, male
      501, Maeve Tremblay, Dr. Priya Nair, 2026-01-12, 09:00, 09:45, completed
      502, Owen Chen, Dr. Priya Nair, 2026-01-12, 10:00, 10:30, completed
      503, Anaïs Gagnon, Sam Whitfield RMT, 2026-01-13, 12:15, 13:00, no_show
      504, Idris Okafor, Dr. Priya Nair, 2026-01-14, 16:30, 17:00, cancelled
      505, Rosa O'Neill, Sam Whitfield RMT, 2026-01-15, 08:30, 09:00, scheduled
      7001, Maeve Tremblay, 2026-01-12, tax 1299, total 23289, paid 0, paid, 2 lines
      7002, Owen Chen, 2026-01-12, tax 0, total 8000, paid 0, sent, 1 lines
      7003, Anaïs Gagnon, 2026-01-13, tax 1476, total 12826, paid 0, sent, 2 lines
      7004, Wen Smith, Jr., 2026-01-14, tax 13910, total 120910, paid 0, sent, 1 lines`,
    rejected: `
      Clients.csv:8: date_of_birth is not a date that exists
      Appointments.csv:7: end_time must be after start_time, on the same day
      Appointments.csv:8: patient_external_id is unknown: the clinic has no such patient, or its row was rejected
      Sales.csv:8: looks like a sum of the rows above, not like a record`,
  },
  dentally: {
    currency: 'GBP',
    records: `
      2001, Edith Ashworth, 1951-03-04, +447400123401, edith@example.com, female
      2002, Callum Fraser-Reid, -, +447400123402, -, male
      2003, Niamh Doherty, 2004-02-29, +442079460103, niamh@example.com, female
      2004, Kofi Mensah, 1988-11-17, +447400123404, kofi@example.com, male
      3001, Edith Ashworth, Dr Amelia Hart, 2026-01-05, 09:00, 09:20, completed
      3002, Callum Fraser-Reid, Dr Amelia Hart, 2026-01-05, 09:30, 10:10, no_show
      3003, Niamh Doherty, Ben Okoro, 2026-01-06, 14:00, 14:30, completed
      3004, Kofi Mensah, Ben Okoro, 2026-01-07, 11:15, 11:45, cancelled
      INV-41, Edith Ashworth, 2026-01-05, tax 0, total 6480, paid 6480, paid, 0 lines
      INV-42, Niamh Doherty, 2026-01-06, tax 0, total 114950, paid 45000, partially_paid, 0 lines
      INV-44, Edith Ashworth, 2026-01-08, tax 0, total 2580, paid 2580, paid, 0 lines`,
    rejected: `
      patients.csv:7,8: phone_number is neither a phone number of GB, the country in the map, such as 07400 123456, nor one with a country code
      patients.csv:6: date_of_birth is not a date that exists
      appointments.csv:7: appointment_date is followed by something that is not HH:mm
      appointments.csv:7: start_time has no time HH:mm
      invoices.csv:4: subtotal has a unit other than GBP
      invoices.csv:6: looks like a sum of the rows above, not like a record
      payments.csv:6: invoice_external_id is unknown: the clinic has no such invoice, or its row was rejected`,
  },
  doctolib: {
    currency: 'EUR',
    records: `
      4001, Zoé LEFÈVRE, 1984-03-01, +33199001101, zoe@example.com, female
      4002, Jean-Noël DE LA TOUR, 1990-04-12, +33199001102, -, male
      4003, Inès BENALI, 1975-08-03, -, ines@example.com, female
      4004, Bao NGUYEN, 2001-12-31, +33199001104, -, male
      4007, Awa, 1993-01-01, +33199001107, -, female
      4008, Théo ROUX, 1959-05-24, +33199001108, theo@example.com, male
      4009, Élodie GARNIER-DUVAL, 1982-02-14, +33199001109, elodie@example.com, female
      4010, Issa OUEDRAOGO, 1971-09-02, +33199001110, -, male
      4011, Maëlle LE GALL, 2006-05-01, -, maelle@example.com, female
      4012, Rui SANTOS, 1950-10-19, +33199001112, -, male
      6001, Zoé LEFÈVRE, Dr Camille Fabre, 2026-01-05, 09:00, 09:20, completed
      6002, Jean-Noël DE LA TOUR, Dr Camille Fabre, 2026-01-05, 09:30, 10:00, no_show
      6003, Inès BENALI, Hugo Morel, 2026-01-06, 14:05, 15:05, completed
      6004, Bao NGUYEN, Hugo Morel, 2026-01-06, 16:00, 16:45, cancelled
      6005, Théo ROUX, Dr Camille Fabre, 2026-01-07, 08:15, 08:35, scheduled`,
    rejected: `
      Rendez-vous.csv:9: has 6 columns, but the header has 9
      Patients.csv:6: date_of_birth is not a date that exists
      Patients.csv:7: phone_number is neither a phone number of FR, the country in the map, such as 06 12 34 56 78, nor one with a country code
      Patients.csv:9: repeats the header
      Rendez-vous.csv:7: start_time is not H'h' or H'h'mm or HH:mm, as the map says
      Rendez-vous.csv:7: end_time follows from start_time, which is missing
      Rendez-vous.csv:8: patient_external_id is unknown: the clinic has no such patient, or its row was rejected
      Rendez-vous.csv:9: has 6 columns, but the header has 9`,
  },
  'google-contacts': {
    currency: 'USD',
    records: `
      Amara Boateng 1982-04-19, Amara Boateng, 1982-04-19, +12025550101, amara@example.com, -
      Diego Fuentes 1971-11-02, Diego Fuentes, 1971-11-02, +12025550102, diego@example.com, -
      Hannah Weiss --05-17, Hannah Weiss, -, +12025550104, hannah@example.com, -
      Jin Park 1999-01-31, Jin Park, 1999-01-31, -, jin@example.com, -
      Kavya, Kavya, -, +12025550106, kavya@example.com, -
      Lindqvist 1965-08-08, Lindqvist, 1965-08-08, +12025550107, -, -
      Maya Cohen 1990-06-30, Maya Cohen, 1990-06-30, +12025550108, maya@example.com, -
      Noah Adeyemi 2003-09-14, Noah Adeyemi, 2003-09-14, +12025550109, -, -
      Olga Petrova 1958-02-11, Olga Petrova, 1958-02-11, +12025550111, olga@example.com, -
      Quinn Murphy 1987-07-07, Quinn Murphy, 1987-07-07, +12025550112, quinn@example.com, -
      Rafael Silva 1994-10-23, Rafael Silva, 1994-10-23, -, -, -
      Sofia Rossi 1949-03-05, Sofia Rossi, 1949-03-05, +12025550114, sofia@example.com, -
      Tariq Haddad 1976-12-12, Tariq Haddad, 1976-12-12, +12025550116, tariq@example.com, -
      Uma Iyer 2010-05-01, Uma Iyer, 2010-05-01, +12025550117, -, -
      Vera Novak 1933-01-20, Vera Novak, 1933-01-20, +12025550118, vera@example.com, -
      Will Tanaka 1980-02-29, Will Tanaka, 1980-02-29, +12025550119, will@example.com, -
      Xenia Alvarez 1992-08-16, Xenia Alvarez, 1992-08-16, +12025550120, xenia@example.com, -
      Yusuf Demir 1985-04-04, Yusuf Demir, 1985-04-04, +12025550121, yusuf@example.com, -`,
    rejected: `
      contacts.csv:11: external_id is already used on an earlier line
      contacts.csv:12: external_id is required
      contacts.csv:12: first_name is required`,
  },
  outlook: {
    currency: 'EUR',
    records: `
      B-101, Aoife Brennan, 1983-05-14, +353850123401, aoife@example.com, unknown
      B-102, Cillian Ó Súilleabháin, -, +35315551202, -, male
      B-103, Zoë D’Arcy, 1996-12-01, +353850123403, zoe@example.com, female
      B-104, Fionnuala Kelly-Nolan, 1949-03-03, +353850123404, fionnuala@example.com, female
      B-105, Bridget, -, +353850123405, -, unknown
      B-109, Gráinne Walsh, 1968-02-27, +353850123409, grainne@example.com, female
      B-110, Hugo Byrne, 2008-11-11, -, hugo@example.com, male
      B-111, Imelda Lynch, -, +35315551211, imelda@example.com, female
      B-112, Jarlath Moran, 1955-07-06, +353850123412, -, male
      B-113, Kateryna Shevchenko, 1991-08-19, +353850123413, kateryna@example.com, female
      B-114, Liam Foley, 2015-01-30, +353850123414, liam@example.com, male
      B-115, Máire Ní Bhriain, 1947-10-08, +353850123415, maire@example.com, female
      B-116, Niall Power, 1979-12-25, +353850123416, niall@example.com, male
      B-117, Orla Keane, 1962-02-02, +353850123417, orla@example.com, female
      B-118, Pádraig Hayes, 1988-04-17, +353850123418, padraig@example.com, male
      B-119, Róisín Daly, 2000-06-13, +353850123419, roisin@example.com, female`,
    rejected: `
      contacts.csv:8: external_id is required
      contacts.csv:8: first_name is required
      contacts.csv:9: date_of_birth is not a date that exists
      contacts.csv:10: external_id is already used on an earlier line`,
  },
}

type Report = {
  readonly file: string
  readonly entity: string
  readonly rows: { readonly read: number; readonly records: number; readonly rejected: number }
  readonly imported: number
  readonly reasons: readonly { readonly text: string; readonly lines: readonly number[] }[]
  readonly sums: readonly { readonly field: string; readonly records: string }[]
}

/** Imports all files of a folder into a clinic of its own. */
async function load(place: string, currency: string) {
  const clinic = await newClinic(db.table, { currency, timezone: 'Europe/London' })
  const files = readdirSync(place).filter((name) => !/\.json$|\.(rejected|left-out)\./.test(name))
  const paths = files.map((name) => join(place, name))
  const map = join(place, 'map.json')
  const done = await run('import', '--yes', '--json', '--clinic', clinic.id, '--map', map, ...paths)
  const { data } = done.printed === '' ? { data: { files: [] } } : JSON.parse(done.printed)
  return { ...done, clinic, reports: data.files as Report[] }
}

/** The records of a clinic, one a line. */
async function recordsOf({ id }: { readonly id: string }): Promise<string[]> {
  const page = { page: 1, limit: 100 }
  const clinic = id as Parameters<ReturnType<typeof patientStore>['page']>[0]
  const name = ({ firstName, lastName }: { firstName: string; lastName: string }) =>
    `${firstName} ${lastName}`.trim()
  const patients = (await patientStore(db).page(clinic, page)).items.map((one) => [
    ...[one.externalId, name(one), one.dateOfBirth, one.phoneNumber, one.emailAddress, one.gender],
  ])
  const appointments = (await appointmentStore(db).page(clinic, {}, page)).items.map((one) => [
    ...[one.externalId, one.patient.fullName, one.doctor.fullName, one.date, one.startTime, one.endTime],
    one.status,
  ])
  const invoices = (await invoiceStore(db).page(clinic, {}, page)).items.map((one) => [
    ...[one.number, one.patient.fullName, one.issueDate, `tax ${one.tax}`, `total ${one.total}`],
    ...[`paid ${one.paid}`, one.status, `${one.lineItems.length} lines`],
  ])
  return [patients, appointments, invoices].flatMap((rows) =>
    rows.map((row) => row.map((value) => value ?? '-').join(', ')).sort(),
  )
}

const linesOf = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim())

describe.each(Object.entries(EXAMPLES))('the example of %s', (name, { currency, records, rejected }) => {
  it('is imported with its map, apart from the rows that are wrong', async () => {
    const place = join(folder, name)
    cpSync(`docs/examples/maps/${name}`, place, { recursive: true })
    const { code, clinic, reports } = await load(place, currency)
    expect(code).toBe(1)
    expect(await recordsOf(clinic)).toEqual(linesOf(records))
    const reasons = reports.flatMap(({ file, reasons }) =>
      reasons.map(({ text, lines }) => `${basename(file)}:${lines}: ${text}`),
    )
    expect(reasons).toEqual(linesOf(rejected))
  })
})
