import { join } from 'node:path'
import { beforeEach } from 'vitest'
import type { ImportOptions } from '../../../../bin/clinic/import/run/import-file.ts'
import type { Clinic, ClinicInfo } from '../../../../shared/domain/clinic.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../../shared/store/calendar/payments.ts'
import { type ImportedKind, readImportIds } from '../../../../shared/store/external-ids/derive.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { importRecords, writeRows } from '../../../support/imports.ts'
import { newClinic, tableOfFile } from '../../../support/table.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

export const FIRST = { page: 1, limit: 100 }

type Options = Pick<ImportOptions, 'overwrite' | 'allowOverlaps' | 'allowSameNumbers' | 'isTrial'> & {
  /** The settings of the clinic, if they were changed. */
  readonly settings?: Partial<ClinicInfo>
}

/** A table, and for each test a new clinic with two patients and a doctor, all imported. */
export function importedClinic() {
  const db = tableOfFile()
  let clinic: Clinic
  const folder = temporaryFolder()

  beforeEach(async () => {
    clinic = await newClinic(db.table)
    await load('patients', [
      {
        external_id: 1,
        first_name: 'Ada',
        last_name: 'Kaya',
        email_address: 'ada@x.org',
        phone_number: '+905321234567',
      },
      { external_id: 2, first_name: 'Bo', last_name: 'Lind' },
    ])
    await load('doctors', [{ external_id: 1, full_name: 'Dr. Eva Noll' }])
  })

  /** Imports rows of one entity as a file would hold them. */
  async function load(name: string, rows: object[], table?: Table, options?: Options) {
    const file = join(folder, `${name}.ndjson`)
    writeRows(file, rows)
    return loadFile(name, file, table, options)
  }

  const loadFile = (
    name: string,
    file: string,
    table: Table = db.table,
    { settings, ...options }: Options = {},
  ) => importRecords(table, { ...clinic, ...settings }, name, file, options)

  return {
    db,
    get clinic() {
      return clinic
    },
    folder,
    load,
    loadFile,
    /** Goes on with a new clinic, which is empty. */
    renew: async () => {
      clinic = await newClinic(db.table)
    },
    /** The id of a record with an external id. */
    idOf: async (kind: ImportedKind, externalId: string | number) =>
      (await readImportIds(db.table, clinic.id))(kind, String(externalId)),
    invoices: async () => (await invoiceStore(db).page(clinic.id, {}, FIRST)).items,
    payments: async () => (await paymentStore(db).page(clinic.id, {}, FIRST)).items,
  }
}

export const appointment = {
  external_id: 'a',
  patient_external_id: 1,
  doctor_external_id: 1,
  appointment_date: '2026-03-29',
  start_time: '09:00',
  end_time: '09:30',
}
export const invoice = {
  external_id: 'i',
  patient_external_id: 1,
  invoice_number: '7',
  issue_date: '2026-04-01',
  currency: 'EUR',
}
export const lines = [
  { description: 'Consultation', quantity: 1.5, unit_price: '33.33', tax_rate: 20 },
  { description: 'Test', unit_price: 10, discount_amount: '1.5', tax_rate: '8.25' },
]
export const payment = {
  external_id: 'p',
  invoice_external_id: 'i',
  amount: '20.00',
  payment_method: 'card',
  payment_date: '2026-04-02',
}
export const message = {
  external_id: 'm',
  patient_external_id: 1,
  channel: 'email',
  recipient: 'ada@x.org',
  message: 'Hello\nAda',
  sent_at: '2026-04-30T22:30:00Z',
}

/** Breaks of a week whose text is longer than 1,000 characters. */
export const LONG_BREAKS = `mon ${Array.from({ length: 90 }, (_, at) => {
  const [hour, minute] = [Math.trunc(at / 9), at % 9]
  return `1${hour}:0${minute}-1${hour}:0${minute + 1}`
}).join(',')}`
