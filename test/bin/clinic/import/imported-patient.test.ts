import { describe, expect, it } from 'vitest'
import type { Patient } from '../../../../shared/domain/patients/patient.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { runVerification } from '../../../shared/maintenance/verify/practice.ts'
import { aPatient } from '../../../support/table.ts'
import { appointment, FIRST, importedClinic } from './calendar-fixtures.ts'

const imported = importedClinic()
const { load } = imported

it('is one patient, whichever form of Unicode their external id has in a file or in a reference', async () => {
  const [composed, decomposed] = ['caf\u00e9', 'cafe\u0301'] as const
  const row = { first_name: 'Ida', last_name: 'Roe' }
  expect(await load('patients', [{ ...row, external_id: decomposed }])).toMatchObject({ imported: 1 })
  expect(await load('patients', [{ ...row, external_id: composed }])).toMatchObject({ unchanged: 1 })
  const booked = { ...appointment, patient_external_id: composed }
  expect(await load('appointments', [booked])).toMatchObject({ imported: 1, reasons: [] })
})

it('is the patient whom an import of an earlier release made under the decomposed form', async () => {
  const { db, clinic, idOf } = imported
  const externalId = 'cafe\u0301'
  const patient = { ...aPatient(), id: await idOf('patient', externalId), externalId }
  await patientWriter(db).createMany(clinic.id, [patient])
  const { firstName: first_name, lastName: last_name } = patient
  for (const form of ['NFC', 'NFD'])
    expect(
      await load('patients', [{ external_id: externalId.normalize(form), first_name, last_name }]),
    ).toMatchObject({ imported: 0, unchanged: 1, reasons: [] })
  expect((await runVerification(db.table, clinic.id)).found).toEqual([])
})

describe('a row of a patient with one name', () => {
  const rowsOf = (names: readonly object[]) => names.map((one, n) => ({ external_id: `one ${n}`, ...one }))
  const names = async (count: number) =>
    (await patientStore(imported.db).page(imported.clinic.id, { page: 1, limit: count })).items
      .map(({ firstName, lastName }) => [firstName, lastName])
      .reverse()

  it('is stored as the first name, whichever column it is in', async () => {
    const rows = rowsOf([
      { first_name: 'Suharto' },
      { first_name: 'Suharto', last_name: null },
      { first_name: ' Suharto ', last_name: '  ' },
      { first_name: null, last_name: 'Suharto' },
      { first_name: '', last_name: 'Suharto', full_name: 'Suharto' },
      { first_name: 'Suharto', last_name: '', full_name: 'Suharto' },
    ])
    expect(await load('patients', rows)).toMatchObject({ imported: 6, rejected: 0 })
    expect(await names(6)).toEqual(Array(6).fill(['Suharto', '']))
    expect(await load('patients', rows)).toMatchObject({ unchanged: 6 })
  })

  it('removes the last name of a patient who had one, unless the file has no such column', async () => {
    const row = { external_id: 1, first_name: 'Ida' }
    await load('patients', [row])
    expect((await names(2))[0]).toEqual(['Ida', 'Kaya'])
    await load('patients', [{ ...row, last_name: '' }])
    expect((await names(2))[0]).toEqual(['Ida', ''])
  })

  it('is rejected without any name, or with another full name', async () => {
    const rows = rowsOf([
      { first_name: '', last_name: '' },
      { first_name: null },
      { last_name: 'Suharto' },
      { first_name: 'Suharto', full_name: 'Suharto Suharto' },
    ])
    expect((await load('patients', rows)).rejections).toEqual([
      '1: first_name is required',
      '2: first_name is required',
      '3: first_name is required',
      '4: full_name must be first_name, a space and last_name, or the only name',
    ])
  })
})

it('a patient who declined messages keeps declining them, unless a row says otherwise', async () => {
  const row = { external_id: 1, first_name: 'Ada', last_name: 'Kaya' }
  const afterRow = async (columns: object) => {
    const { rejections } = await load('patients', [{ ...row, ...columns }])
    const { items } = await patientStore(imported.db).page(imported.clinic.id, FIRST)
    const [{ acceptsSms, acceptsEmail, language }] = items.slice(-1) as unknown as [Patient]
    return [acceptsSms, acceptsEmail, language, ...rejections]
  }
  expect(await afterRow({ language: 'sv-fi' })).toEqual([true, true, 'sv-FI'])
  expect(await afterRow({ accepts_sms: 'false', accepts_email: false })).toEqual([false, false, 'sv-FI'])
  expect(await afterRow({ accepts_sms: null, notes: 'x' })).toEqual([false, false, 'sv-FI'])
  expect(await afterRow({ accepts_sms: null, accepts_email: true, language: null })).toEqual([
    false,
    true,
    null,
  ])
  expect(await afterRow({ accepts_sms: 'maybe', language: 'german' })).toEqual([
    ...[false, true, null],
    '1: accepts_sms must be true or false; language must be a language tag such as de, pt-BR or zh-Hant',
  ])
})
