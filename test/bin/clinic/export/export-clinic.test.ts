/** An export: its files, and that they can be imported and exported again without a difference. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { exportClinic } from '../../../../bin/clinic/export/export-clinic.ts'
import { readManifest } from '../../../../bin/clinic/export/manifest.ts'
import { trialTable } from '../../../../bin/clinic/import/run/trial-table.ts'
import type { Clinic, ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { roomStore } from '../../../../shared/store/catalogue.ts'
import { setPaused } from '../../../../shared/store/clinic-pause.ts'
import { clinicStore } from '../../../../shared/store/clinics.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { holidayStore } from '../../../../shared/store/holidays.ts'
import { shortId } from '../../../../shared/store/keys/key.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { importEntities } from '../../../../shared/sync/entities/entities.ts'
import { runVerification } from '../../../shared/maintenance/verify/practice.ts'
import { issueCredential } from '../../../support/credentials.ts'
import { filledPatient } from '../../../support/filled-records.ts'
import { exportedRows, importRecords, writeRows } from '../../../support/imports.ts'
import { createPopulatedClinic } from '../../../support/records.ts'
import { aPatient, newClinic, tableOfFile } from '../../../support/table.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import {
  appointment,
  FIRST,
  invoice,
  LONG_BREAKS,
  lines,
  message,
  payment,
} from '../import/calendar-fixtures.ts'

const db = tableOfFile()
let clinic: Clinic
let erased: string
const root = temporaryFolder()
let folders = 0
const newFolder = () => join(root, `export-${++folders}`)
const sleep = () => Promise.reject(new Error('no pause to wait for'))

const NATIONAL_DAY = { from: '2026-10-29', to: '2026-10-29' }

const bill = (id: string) => ({ ...invoice, external_id: id, invoice_number: id, subtotal: 20 })

const FILES: Record<string, object[]> = {
  departments: [{ external_id: 'D1', name: 'Kardiologie' }],
  doctors: [
    {
      ...{ external_id: 'E1', full_name: 'Dr. Eva Noll', specialty: 'Cardiology' },
      department_external_id: 'D1',
      hours: 'mon-fri 09:00-12:30,13:30-18:00; sat 10:00-14:00',
      breaks: LONG_BREAKS,
      time_off: '2026-12-24/2026-12-26 "Family; ""far"" away"; 2027-01-01',
      exceptions: '2026-12-23 09:00-12:00,13:00-14:00; 2026-12-28 off',
    },
    { external_id: 'E;2', full_name: 'Dr. Bo Lind' },
  ],
  holidays: [
    { external_id: 'H1', from: '2026-12-25', to: '2026-12-26', name: 'Christmas; "both" days' },
    { external_id: 'H2', from: '2027-01-01' },
  ],
  rooms: [{ external_id: 'R1', name: 'Room 1', department_external_id: 'D1', is_active: false }],
  treatments: [
    {
      external_id: 'T1',
      name: 'Check-up',
      duration_minutes: 30,
      price: '80.50',
      doctor_external_ids: ['E1'],
    },
    {
      external_id: 'T2',
      name: 'ECG; "rest"',
      duration_minutes: 15,
      price: 7,
      currency: 'KWD',
      code: 'E,1',
      doctor_external_ids: ['E1', 'E;2'],
    },
  ],
  'price-lists': [
    {
      external_id: 'L1',
      name: 'Members',
      valid_from: '2026-01-01',
      is_default: true,
      items: [{ treatment_external_id: 'T2', price: '5.25' }],
    },
  ],
  patients: [
    {
      ...{
        external_id: 1,
        first_name: 'Ada',
        last_name: 'Kaya',
        date_of_birth: '1980-01-02',
        gender: 'female',
      },
      ...{ email_address: 'ada@x.org', phone_number: '+905321234567', national_id: 'TR-1' },
      ...{ accepts_sms: true, accepts_email: false, language: 'tr' },
      notes: '=1+1 says "hello", then\nleaves; x,=",y',
    },
    // A patient with one name.
    { external_id: 'b,2', first_name: 'Bo', is_active: false },
  ],
  appointments: [
    appointment,
    {
      ...{ ...appointment, external_id: 'b', status: 'cancelled' },
      ...{ cancelled_at: '2026-03-01T10:00:00+03:00', cancellation_reason: 'ill' },
    },
  ].map((row) => ({ ...row, doctor_external_id: 'E1' })),
  invoices: [
    {
      ...{ ...invoice, appointment_external_id: 'a', doctor_external_id: 'E1' },
      line_items: [{ ...lines[0], doctor_external_id: 'E;2', treatment_external_id: 'T1' }, lines[1]],
    },
    { ...bill('j'), patient_external_id: 'b,2', due_date: '2026-05-01' },
    { ...bill('stated'), status: 'sent', paid_at: '2026-04-05T10:00:00Z' },
    { ...bill('unpaid again'), status: 'sent', paid_at: '2026-04-05T11:00:00Z' },
    { ...bill('paid'), status: 'paid', paid_at: '2026-04-05T12:00:00Z' },
    { ...bill('paid later'), status: 'sent', paid_at: null },
  ],
  payments: [
    payment,
    {
      ...payment,
      external_id: 'void',
      status: 'failed',
      voided_at: '2026-04-03T10:00:00Z',
      void_reason: 'Mistyped; paid "twice"',
    },
    { ...payment, external_id: 'q', invoice_external_id: 'j', amount: 20, description: 'card; "new"' },
    { ...payment, external_id: 'part', invoice_external_id: 'unpaid again', amount: 5 },
    { ...payment, external_id: 'whole', invoice_external_id: 'paid later' },
  ],
  messages: [
    { ...message, subject: 'Consultation' },
    {
      ...{ ...message, external_id: 'n', status: 'delivered' },
      ...{ channel: 'sms', recipient: '+905321234567', provider: 'sns' },
    },
  ],
}

const FILE_NAMES = Object.keys(FILES).flatMap((name) => [`${name}.csv`, `${name}.ndjson`])

async function load(target: Clinic, name: string, file: string, table?: Table): Promise<void> {
  const options = { now: Date.now, isTrial: table !== undefined }
  const { reasons } = await importRecords(table ?? db.table, target, name, file, options)
  expect([name, reasons]).toEqual([name, []])
}

const run = (of: Clinic, folder: string, table: Table = db.table) =>
  exportClinic(table, of, folder, { sleep })

/** The files of an export without its manifest. */
const filesOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name !== 'manifest.json')
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  )

/** The clinic as it is now, with its pause. */
const current = async ({ id }: Clinic): Promise<Clinic> => (await clinicStore(db).find(id)) as Clinic

/** Fields of invoices in the API that are no columns. */
const shown = async ({ id }: Clinic) =>
  (await invoiceStore(db).page(id, {}, FIRST)).items
    .map(({ number, status, paid, paidAt, total }) => ({ number, status, paid, paidAt, total }))
    .sort((a, b) => (a.number < b.number ? -1 : 1))

beforeAll(async () => {
  // A patient without external ids, as the API makes them, and one who is erased.
  const patient = filledPatient()
  clinic = (await createPopulatedClinic(db.table, patient)).clinic
  for (const [name, rows] of Object.entries(FILES)) {
    const file = join(root, `${name}.ndjson`)
    writeRows(file, rows)
    await load(clinic, name, file)
  }
  // One that was not imported.
  const holidays = holidayStore(db)
  await holidays.set(clinic.id, (before) => [...before, { ...NATIONAL_DAY, reason: 'National day' }])
  await holidays.refreshCopies(clinic.id)
  erased = patient.id
  await patientChanges(db.table).erase(clinic.id, erased, { operator: 'test' })
})

const pausedAt = (now: number, { id } = clinic) =>
  setPaused({ ...db.table, now: () => now }, id, new Date(now).toISOString())

describe('an export', () => {
  it('has every column of the import but the record’s own id, and rows of every entity', async () => {
    const folder = newFolder()
    const manifest = await run(clinic, folder)
    expect(Object.keys(filesOf(folder))).toEqual(FILE_NAMES.toSorted())
    for (const { name, columns } of importEntities(db.table, Date.now)) {
      const [row = {}] = exportedRows(folder, name)
      expect(Object.keys(row)).toEqual(['external_id', ...columns.filter((column) => column !== 'id')])
      expect(manifest.files[`${name}.csv`]?.rows).toBe(exportedRows(folder, name).length)
    }
    expect(exportedRows(folder, 'doctors')).toContainEqual(
      expect.objectContaining({ ...FILES.doctors?.[0], hours: expect.stringContaining('sat 10:00-14:00') }),
    )
    expect(exportedRows(folder, 'holidays')).toEqual([
      { external_id: '2026-10-29', ...NATIONAL_DAY, name: 'National day' },
      FILES.holidays?.[0],
      { external_id: 'H2', from: '2027-01-01', to: '2027-01-01', name: null },
    ])
    expect(exportedRows(folder, 'patients')).toMatchObject([
      { external_id: erased, first_name: 'Erased', is_active: false, notes: null },
      { ...FILES.patients?.[0], external_id: '1', created_at: expect.stringMatching(/Z$/) },
      { external_id: 'b,2', full_name: 'Bo', is_active: false },
    ])
    expect(exportedRows(folder, 'invoices')).toContainEqual(
      expect.objectContaining({
        external_id: 'j',
        patient_external_id: 'b,2',
        status: 'sent',
        paid_amount: 20,
      }),
    )
    expect(exportedRows(folder, 'invoices')).toContainEqual(
      expect.objectContaining({
        ...{ appointment_external_id: 'a', doctor_external_id: 'E1' },
        line_items: [
          expect.objectContaining({ doctor_external_id: 'E;2', treatment_external_id: 'T1' }),
          expect.objectContaining({ doctor_external_id: null, treatment_external_id: null }),
        ],
      }),
    )
    // The stated amounts, independent of the payments.
    expect(
      Object.fromEntries(
        exportedRows(folder, 'invoices').map(({ external_id, paid_at }) => [external_id, paid_at]),
      ),
    ).toMatchObject({
      stated: '2026-04-05T10:00:00.000Z',
      'unpaid again': '2026-04-05T11:00:00.000Z',
      paid: '2026-04-05T12:00:00.000Z',
      'paid later': null,
    })
    expect(exportedRows(folder, 'payments')).toContainEqual(
      expect.objectContaining({
        external_id: 'void',
        status: 'failed',
        voided_at: '2026-04-03T10:00:00.000Z',
        void_reason: 'Mistyped; paid "twice"',
      }),
    )
    expect(JSON.stringify(filesOf(folder))).not.toMatch(/canar/i)
  })

  it('is for its owner only, and ends with a manifest that names the clinic’s settings but no secret', async () => {
    const folder = newFolder()
    await run(clinic, folder)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    const manifest = readManifest(folder)
    expect(manifest.clinic).toMatchObject({ id: clinic.id, timezone: clinic.timezone })
    expect(JSON.stringify(manifest)).not.toContain('ecret')
    expect(readdirSync(folder).sort()).toEqual([...FILE_NAMES, 'manifest.json'].sort())
  })

  it.each(['ndjson', 'csv'])(
    'can be imported from its %s files, and is then exported the same',
    async (format) => {
      const [first, second] = [newFolder(), newFolder()]
      await run(clinic, first)
      const copy = await newClinic(db.table, { currency: clinic.currency })
      const fileOf = (name: string) => join(first, `${name}.${format}`)
      using trial = trialTable(db.table)
      for (const name of Object.keys(FILES)) await load(copy, name, fileOf(name), trial)
      expect((await patientStore(db).page(copy.id, FIRST)).total).toBe(0)
      for (const name of Object.keys(FILES)) await load(copy, name, fileOf(name))
      await run(copy, second)
      expect(filesOf(second)).toEqual(filesOf(first))
      expect(await shown(copy)).toEqual(await shown(clinic))
      expect((await runVerification(db.table, copy.id)).found).toEqual([])
    },
  )

  it('leaves nothing when it fails, and starts over after it was stopped', async () => {
    const folder = newFolder()
    const query: Table['query'] = async (range) => {
      if (range.pk === `${shortId(clinic.id)}#CP`) throw new Error('stopped')
      return db.table.query(range)
    }
    await expect(run(clinic, folder, { ...db.table, query })).rejects.toThrow('stopped')
    const unfinished = `${folder}.unfinished`
    expect([existsSync(folder), existsSync(unfinished)]).toEqual([false, false])
    // As an export that was killed leaves it.
    mkdirSync(unfinished)
    for (const name of ['export.db', 'patients.csv', 'old.csv']) writeFileSync(join(unfinished, name), 'old')
    await run(clinic, folder)
    expect(Object.keys(filesOf(folder))).toEqual(FILE_NAMES.toSorted())
    expect(existsSync(unfinished)).toBe(false)
  })

  it('does not claim one moment of a pause that was stopped, and waits for its repetition to take effect', async () => {
    const paused = await newClinic(db.table)
    await issueCredential(db.table, paused)
    const at = new Date(Date.now() - 60_000).toISOString()
    await clinicStore(db).update(paused.id, { pausedAt: at })
    const waits: number[] = []
    const exported = async () =>
      exportClinic(db.table, await current(paused), newFolder(), { sleep: async (ms) => waits.push(ms) })
    expect((await exported()).is_one_moment).toBe(false)
    await setPaused(db.table, paused.id, at)
    expect((await exported()).is_one_moment).toBe(false)
    expect(waits).toEqual([expect.closeTo(20_000, -4)])
  })

  it.each([
    ['nothing', true, async () => {}],
    ['a record', false, (id: ClinicId) => patientWriter(db).createMany(id, [aPatient()])],
    [
      'a list',
      false,
      (id: ClinicId) =>
        roomStore(db).save(id, [
          { before: null, after: { id: newUuid(), name: 'Late', departmentId: null, isActive: true } },
        ]),
    ],
    ['a setting', false, (id: ClinicId) => clinicStore(db).update(id, { website: 'https://x.example' })],
  ])(
    'of a paused clinic is of one moment unless the operator changes %s meanwhile: %s',
    async (_, expected, change) => {
      const longAgo = Date.parse('2026-05-01T07:00:00Z')
      const paused = (await createPopulatedClinic({ ...db.table, now: () => longAgo })).clinic
      await pausedAt(Date.now() - 60_000, paused)
      let isChanged = false
      const query: Table['query'] = async (range) => {
        if (range.pk === `${shortId(paused.id)}#A` && !isChanged) {
          isChanged = true
          await change(paused.id)
        }
        return db.table.query(range)
      }
      const manifest = await run(await current(paused), newFolder(), { ...db.table, query })
      expect([isChanged, manifest.is_one_moment]).toEqual([true, expected])
    },
  )

  it('is rejected during a restore of the clinic or the table, and if one has ended since the export began', async () => {
    const { clinic: restored } = await createPopulatedClinic(db.table)
    const clinics = clinicStore(db)
    const restoring = { to: '2026-05-01T07:00:00.000Z', from: 'copy', wasPaused: false }
    await clinics.update(restored.id, { restoring })
    await expect(run(await current(restored), newFolder())).rejects.toThrow('is being restored')
    const replacement = { table: 'copy', since: restoring.to, wasPaused: false }
    await clinics.update(restored.id, { restoring: null, replacement })
    await expect(run(await current(restored), newFolder())).rejects.toThrow('is being restored')
    await clinics.update(restored.id, { replacement: null })
    let reads = 0
    const query: Table['query'] = async (range) => {
      if (range.pk === `${shortId(restored.id)}#CP` && ++reads === 2)
        await clinics.update(restored.id, { restores: [{ to: restoring.to, endedAt: restoring.to }] })
      return db.table.query(range)
    }
    const folder = newFolder()
    const stopped = run(await current(restored), folder, { ...db.table, query })
    await expect(stopped).rejects.toThrow('export it again')
    await run(await current(restored), folder)
  })

  it.each(['', '/'])(
    'is found by its folder, also one in a new folder and with "%s" at its end',
    async (end) => {
      const folder = join(newFolder(), 'in')
      await run(clinic, `${folder}${end}`)
      expect(readManifest(folder).clinic.id).toBe(clinic.id)
    },
  )
})
