import { beforeEach, describe, expect, it } from 'vitest'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../../shared/store/calendar/payments.ts'
import { copiedNames } from '../../../../shared/store/copies/copied-names.ts'
import { messageStore } from '../../../../shared/store/messages/messages.ts'
import { appointment, FIRST, importedClinic, invoice, message, payment } from './calendar-fixtures.ts'

const imported = importedClinic()
const { load, invoices, payments } = imported

describe('an imported patient', () => {
  beforeEach(async () => {
    await load('appointments', [{ ...appointment, notes: 'has a cough' }])
    await load('invoices', [{ ...invoice, subtotal: 100 }])
    await load('payments', [{ ...payment, description: 'from her brother' }])
    await load('messages', [{ ...message, subject: 'Dear Ada' }])
  })

  const everything = async () => {
    const [appointments, bills, paid, log] = await Promise.all([
      appointmentStore(imported.db).page(imported.clinic.id, {}, FIRST),
      invoiceStore(imported.db).page(imported.clinic.id, {}, FIRST),
      paymentStore(imported.db).page(imported.clinic.id, {}, FIRST),
      messageStore(imported.db).page(imported.clinic.id, {}, FIRST),
    ])
    return [...appointments.items, ...bills.items, ...paid.items, ...log.items]
  }

  it('is renamed in every record that shows the name', async () => {
    await load('patients', [
      { external_id: 1, first_name: 'Ada', last_name: 'Öz', email_address: 'oz@x.org' },
    ])
    expect((await everything()).map(({ patient }) => patient.fullName)).toEqual(Array(4).fill('Ada Öz'))
    expect(await invoices()).toMatchObject([{ patient: { email: 'oz@x.org' } }])
    const [{ patient }] = (await payments()) as unknown as [{ patient: { id: string } }]
    for (const list of [
      appointmentStore(imported.db),
      invoiceStore(imported.db),
      paymentStore(imported.db),
      messageStore(imported.db),
    ]) {
      expect((await list.page(imported.clinic.id, { patient: patient.id }, FIRST)).items).toMatchObject([
        { patient: { fullName: 'Ada Öz' } },
      ])
    }
    expect(await copiedNames(imported.db.table).staleOwners(imported.clinic.id)).toEqual([])
  })

  it('has appointments with the new name of a renamed doctor', async () => {
    await load('doctors', [{ external_id: 1, full_name: 'Dr. Eva Neu' }])
    expect((await appointmentStore(imported.db).page(imported.clinic.id, {}, FIRST)).items).toMatchObject([
      { doctor: { fullName: 'Dr. Eva Neu' } },
    ])
  })
})
