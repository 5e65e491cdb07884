/** All that is held of one person. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type PersonData, personText, readPerson } from '../../../../bin/clinic/patients/patient-export.ts'
import type { Patient } from '../../../../shared/domain/patients/patient.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { filledPatient } from '../../../support/filled-records.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'
import { tableOfFile } from '../../../support/table.ts'
import { tableText } from '../../../support/table-text.ts'

const db = tableOfFile()
let held: PopulatedClinic
let data: PersonData
beforeAll(async () => {
  held = await createPopulatedClinic(db.table, filledPatient())
  data = (await readPerson(db.table, held.clinic, held.patient.id)) as PersonData
})

describe('the data of a person', () => {
  it('has the whole record, and every appointment, invoice, payment and message', () => {
    const { patient, appointment, invoice, payment, message } = held
    expect(data.patient).toMatchObject({
      id: patient.id,
      national_id: patient.nationalId,
      notes: patient.notes,
    })
    const ids = [data.appointments, data.invoices, data.payments, data.messages].map((all) =>
      all.map(({ id }) => id),
    )
    expect(ids).toEqual([[appointment.id], [invoice.id], [payment.id], [message.id]])
    expect(data.messages).toMatchObject([{ message: message.text }])
  })

  it('has every text of the table that only this person has', async () => {
    const texts = (await tableText(db)).match(/canar[^"\\]*/gi) ?? []
    const known = JSON.stringify(data).toLowerCase()
    expect(texts.length).toBeGreaterThan(5)
    // The search index has its folded line, of values that the record has.
    for (const text of new Set(texts)) expect(known).toContain(text.toLowerCase().split(' ')[0])
  })

  it('is readable as a text with the same values', () => {
    const text = personText(data)
    const { firstName, notes, phoneNumber } = held.patient as Patient
    for (const value of [firstName, notes, phoneNumber, held.message.text.trim(), held.invoice.number])
      expect(text).toContain(value)
    expect(text).toContain('Payments (1)')
    expect(text).toMatch(/^date_of_birth +1931-07-13$/m)
    expect(text).toMatch(/^balance_due +100\.00$/m)
    expect(text).toMatch(/ unit_price .*\n.* 100\.10 /)
    expect(text).toMatch(/^amount +0\.10$/m)
    expect(text).not.toMatch(/null|\[object|</)
  })

  it('is null for an unknown patient and for one of another clinic', async () => {
    const other = await createPopulatedClinic(db.table)
    expect(await readPerson(db.table, held.clinic, newUuid())).toBeNull()
    expect(await readPerson(db.table, held.clinic, other.patient.id)).toBeNull()
  })
})
