/** Imports whose records change, or whose store fails, between reading and writing. */
import { beforeEach, describe, expect, it } from 'vitest'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { roomStore, treatmentStore } from '../../../../shared/store/catalogue.ts'
import { copiedNames } from '../../../../shared/store/copies/copied-names.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import { ConditionFailed, UnavailableError, WriteConflict } from '../../../../shared/store/table/errors.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { interceptedTable, interruptedTable } from '../../../support/intercepted-table.ts'
import { appointment, FIRST, importedClinic, invoice, message, payment } from './calendar-fixtures.ts'

const imported = importedClinic()
const { idOf, load, invoices, payments } = imported

/** The table of the clinic, in which something else happens before its first transaction. */
const interrupted = (interfere: () => Promise<unknown>): Table =>
  interruptedTable(imported.db.table, interfere)

/** The same table, whose transactions end with these errors, one after another, before or after the commit. */
const failingTable = (when: 'before' | 'after', errors: Error[]): Table =>
  interceptedTable(imported.db.table, async (write) => {
    const error = errors.shift()
    if (!error || when === 'after') await write()
    if (error) throw error
  })

const erasePatient = async () =>
  patientChanges(imported.db.table).erase(imported.clinic.id, await idOf('patient', 1))

const bill = { ...invoice, subtotal: 100 }
const ada = { external_id: 1, first_name: 'Ada', last_name: 'Kaya' }
const lost = () => new UnavailableError('the response was lost')

describe('an import whose patient is erased between reading and writing', () => {
  const ofBo = { patient_external_id: 2 }
  it.each<[string, object, object]>([
    ['appointments', appointment, ofBo],
    ['invoices', bill, { ...ofBo, invoice_number: '8' }],
    ['payments', payment, { invoice_external_id: 'other' }],
    ['messages', message, ofBo],
    ['patients', { ...ada, last_name: 'New' }, { external_id: 2 }],
  ])('rejects the row and imports the others, of %s', async (name, row, more) => {
    const others = { ...bill, ...ofBo, external_id: 'other', invoice_number: '8' }
    if (name === 'payments') await load('invoices', [bill, others])
    const other = { ...row, external_id: 'other', ...more }
    const { imported: added, updated, reasons } = await load(name, [row, other], interrupted(erasePatient))
    expect([added + updated, reasons]).toEqual([1, ['the patient was erased']])
  })
})

describe('an import whose references change between reading and writing', () => {
  it("writes the doctor's new name", async () => {
    const rename = async () => {
      const doctors = doctorStore(imported.db)
      const before = await doctors.find(imported.clinic.id, await idOf('doctor', 1))
      if (!before) throw new Error('no doctor')
      await doctors.save(imported.clinic.id, [{ before, after: { ...before, fullName: 'Dr. Eva Neu' } }])
      await copiedNames(imported.db.table).refreshAll(imported.clinic.id)
    }
    expect(await load('appointments', [appointment], interrupted(rename))).toMatchObject({ imported: 1 })
    const { items } = await appointmentStore(imported.db).page(imported.clinic.id, {}, FIRST)
    expect(items).toMatchObject([{ doctor: { fullName: 'Dr. Eva Neu' } }])
  })

  it("writes the patient's new name to payments", async () => {
    await load('invoices', [bill])
    const rename = async () =>
      patientChanges(imported.db.table).update(imported.clinic.id, await idOf('patient', 1), {
        lastName: 'New',
      })
    expect(await load('payments', [payment], interrupted(rename))).toMatchObject({ imported: 1 })
    expect(await payments()).toMatchObject([{ patient: { fullName: 'Ada New' } }])
  })
})

const FILES: [string, object[]][] = [
  ['patients', [{ external_id: 'x', first_name: 'X', last_name: 'Y' }]],
  ['doctors', [{ external_id: 'x', full_name: 'Dr. X' }]],
  ['appointments', [appointment, { ...appointment, external_id: 'b' }]],
  ['invoices', [{ ...bill, external_id: 'x', invoice_number: '8' }]],
  ['payments', [payment, { ...payment, external_id: 'q' }]],
  ['messages', [message]],
]

describe('an import whose transactions fail', () => {
  beforeEach(() => load('invoices', [bill]))

  it.each(FILES)('counts rows of %s as imported although the response was lost', async (name, rows) => {
    const result = await load(name, rows, failingTable('after', [lost()]))
    expect(result).toMatchObject({ imported: rows.length, updated: 0, unchanged: 0, rejected: 0 })
    expect(await load(name, rows)).toMatchObject({ imported: 0, updated: 0, unchanged: rows.length })
  })

  it.each(FILES)('waits and continues with %s when the store is busy or unavailable', async (name, rows) => {
    const errors = [lost(), new WriteConflict(), lost(), new ConditionFailed([0])]
    const result = await load(name, rows, failingTable('before', errors))
    expect(result).toMatchObject({ imported: rows.length, unchanged: 0, rejected: 0 })
    expect(errors).toEqual([])
  })
})

describe('an import of what another import changes between reading and writing', () => {
  it('refunds no more than was paid', async () => {
    await load('invoices', [bill])
    await load('payments', [payment])
    const refund = (id: string) => ({ ...payment, external_id: id, type: 'refund' })
    const table = interrupted(() => load('payments', [refund('b')]))
    expect(await load('payments', [refund('a')], table)).toMatchObject({ imported: 0, rejected: 1 })
    expect(await invoices()).toMatchObject([{ paid: 0, status: 'refunded' }])
  })

  it('makes no second treatment with a code', async () => {
    const treatment = (id: string) => ({
      external_id: id,
      name: id,
      code: 'C',
      duration_minutes: 30,
      price: 80,
    })
    const table = interrupted(() => load('treatments', [treatment('b')]))
    expect(await load('treatments', [treatment('a')], table)).toMatchObject({ imported: 0, rejected: 1 })
    expect(await treatmentStore(imported.db).list(imported.clinic.id)).toMatchObject([{ name: 'b' }])
  })

  it('keeps both if they do not contradict each other', async () => {
    const rows = [...Array(45).keys()].map((at) => ({ external_id: `r${at}`, name: `Room ${at}` }))
    const table = interrupted(() => load('rooms', [{ external_id: 'x', name: 'X' }]))
    expect(await load('rooms', rows, table)).toMatchObject({ imported: 45, rejected: 0 })
    expect(await roomStore(imported.db).list(imported.clinic.id)).toHaveLength(46)
  })
})
