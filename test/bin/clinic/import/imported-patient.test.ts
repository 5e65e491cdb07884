import { ScanCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../../shared/store/calendar/payments.ts'
import { copiedNames } from '../../../../shared/store/copies/copied-names.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { shortId } from '../../../../shared/store/keys/key.ts'
import { messageStore } from '../../../../shared/store/messages/messages.ts'
import { patientSearch } from '../../../../shared/store/patients/search.ts'
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

  it('stays erased in every record, while totals and amounts stay, when files are imported again', async () => {
    const [{ patient }] = (await payments()) as unknown as [{ patient: { id: string } }]
    const search = patientSearch(imported.db)
    await search.search(imported.clinic.id, 'kaya', FIRST)
    await patientChanges(imported.db.table).erase(imported.clinic.id, patient.id)
    await patientChanges(imported.db.table).erase(imported.clinic.id, patient.id)
    const left = JSON.stringify([await everything(), await search.search(imported.clinic.id, '', FIRST)])
    expect(left).not.toMatch(/Ada|Kaya|ada@x|90532|cough|brother|Dear/)
    for (const finder of [search, patientSearch(imported.db)]) {
      for (const query of ['kaya', 'ada@', '4567'])
        expect((await finder.search(imported.clinic.id, query, FIRST)).total).toBe(0)
      expect((await finder.search(imported.clinic.id, 'erased', FIRST)).total).toBe(1)
    }
    expect(await invoices()).toMatchObject([{ total: 10_000, paid: 2000, status: 'partially_paid' }])
    expect(await load('patients', [{ external_id: 1, first_name: 'Ada', last_name: 'Kaya' }])).toMatchObject({
      rejected: 1,
      reasons: ['the patient was erased'],
    })
    expect(await load('appointments', [appointment])).toMatchObject({
      rejected: 1,
      reasons: ['the patient was erased'],
    })
    const raw = await imported.db.client.send(
      new ScanCommand({
        TableName: imported.db.name,
        FilterExpression: 'begins_with(pk, :clinic)',
        ExpressionAttributeValues: { ':clinic': shortId(imported.clinic.id) },
      }),
    )
    expect(JSON.stringify(raw.Items)).not.toMatch(/Kaya|kaya|ada@x|905321234567|cough|brother|Dear/)
  })

  it('has appointments with the new name of a renamed doctor', async () => {
    await load('doctors', [{ external_id: 1, full_name: 'Dr. Eva Neu' }])
    expect((await appointmentStore(imported.db).page(imported.clinic.id, {}, FIRST)).items).toMatchObject([
      { doctor: { fullName: 'Dr. Eva Neu' } },
    ])
  })
})
