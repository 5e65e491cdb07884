/** A clinic in which everything changes at random: by requests, by the operator, by imports and by providers. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { importEntities } from '../../bin/clinic/import/entities/entities.ts'
import { importFile } from '../../bin/clinic/import/run/import-file.ts'
import { APPOINTMENT_STATUSES, type Appointment } from '../../shared/domain/booking/appointment.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { copiedNames } from '../../shared/store/copies/copied-names.ts'
import { patientChanges } from '../../shared/store/copies/patient-changes.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { messageDispatch } from '../../shared/store/messages/dispatch.ts'
import { patientStore } from '../../shared/store/patients/patients.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import { retryOnConflict } from '../../shared/store/table/retries.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { createAcceptedEmail } from './emails.ts'
import { call } from './event.ts'
import { handlerOf } from './functions.ts'

const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T
const PATIENTS = 30

export async function changingClinic(
  table: Table,
  clinic: Clinic,
  headers: Record<string, string>,
  folder: string,
) {
  const appointments = appointmentStore({ table })
  const changes = patientChanges(table)
  const doctors = doctorStore({ table })
  const emails: string[] = []

  async function load(entity: string, rows: readonly object[]): Promise<void> {
    const file = join(folder, `${entity}.ndjson`)
    writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    const found = importEntities(table, Date.now).find(({ name }) => name === entity)
    if (!found) throw new Error(`no entity ${entity}`)
    const { rejected } = await importFile(file, found, clinic, { now: Date.now, overwrite: true })
    if (rejected > 0) throw new Error(`${rejected} rows of ${entity} were rejected`)
  }

  /** Imports files of every entity; a later `round` changes some of the records and adds others. */
  async function importFiles(round: number): Promise<void> {
    const ids = Array.from({ length: PATIENTS * round }, (_, n) => n)
    const at = '2020-01-01T10:00:00Z'
    await load('doctors', [{ external_id: 1, full_name: `Dr. ${round}`, hours: 'mon-sun 00:00-23:59' }])
    await load(
      'patients',
      ids.map((n) => ({
        external_id: n,
        first_name: 'Canary',
        last_name: `Number${n % 3 === 0 ? round : 0}`,
        created_at: at,
      })),
    )
    await load(
      'appointments',
      ids.map((n) => ({
        external_id: n,
        patient_external_id: n,
        doctor_external_id: 1,
        appointment_date: '2020-02-03',
        start_time: '09:00',
        end_time: '09:30',
        notes: `round ${n % 4 === 0 ? round : 0}`,
        created_at: at,
      })),
    )
    await load(
      'invoices',
      ids.map((n) => ({
        external_id: n,
        patient_external_id: n,
        invoice_number: `I-${n}`,
        issue_date: '2020-02-03',
        line_items: [{ description: 'Consultation', unit_price: 100 }],
        created_at: at,
      })),
    )
    await load(
      'payments',
      ids.map((n) => ({
        external_id: n,
        invoice_external_id: n,
        amount: 10 * round,
        payment_method: 'card',
        payment_date: '2020-02-04',
        created_at: at,
      })),
    )
    await load(
      'messages',
      ids.map((n) => ({
        external_id: n,
        patient_external_id: n,
        channel: 'email',
        recipient: 'ada@example.com',
        message: `Hello ${round}`,
        status: 'delivered',
        sent_at: at,
        created_at: at,
      })),
    )
  }

  const patients = async () => (await patientStore({ table }).page(clinic.id, { page: 1, limit: 1000 })).items
  const living = async () => pick((await patients()).filter(({ erasedAt }) => erasedAt === null))

  async function post(id: string, body: object): Promise<void> {
    const sent = { ...headers, 'content-type': 'application/json' }
    await call(await handlerOf({ id }), { method: 'POST', headers: sent, body: JSON.stringify(body) })
  }

  async function changeAppointment(): Promise<void> {
    const { items } = await appointments.page(clinic.id, {}, { page: 1, limit: 200 })
    const one = pick(items)
    const facts: Partial<Appointment> = { status: pick(APPOINTMENT_STATUSES), notes: newUuid() }
    if (one)
      await retryOnConflict(async () => {
        const stored = await appointments.find(clinic.id, one.id)
        const set = new Changeset(table, clinic.id)
        if (stored) appointments.change(set, stored, { ...stored.record, ...facts })
        await set.commit()
      })
  }

  async function renameDoctor(): Promise<void> {
    const [before] = await doctors.list(clinic.id)
    if (!before) return
    const { version: _, ...doctor } = before
    await retryOnConflict(async () => {
      const current = await doctors.find(clinic.id, before.id)
      await doctors.save(clinic.id, [{ before: current, after: { ...doctor, fullName: `Dr. ${newUuid()}` } }])
    })
    await copiedNames(table).refreshAll(clinic.id)
  }

  async function book(): Promise<void> {
    const [doctor] = await doctors.list(clinic.id)
    const hour = String(Math.floor(Math.random() * 24)).padStart(2, '0')
    await post('create-appointment', {
      patient_id: (await living()).id,
      doctor_id: doctor?.id,
      appointment_date: `2030-01-${String(1 + Math.floor(Math.random() * 28)).padStart(2, '0')}`,
      start_time: `${hour}:00`,
    })
  }

  async function sendEmail(): Promise<void> {
    const message = await createAcceptedEmail(table, clinic, await living(), Date.now())
    emails.push(message.id)
  }

  async function recordFeedback(): Promise<void> {
    const id = pick(emails)
    const at = new Date(Date.now()).toISOString()
    if (id)
      await messageDispatch({ table }).recordFeedback(clinic.id, id, {
        kind: 'sent',
        at,
        providerMessageId: null,
      })
  }

  const OPERATIONS: (() => Promise<unknown>)[] = [
    () => post('create-patient', { first_name: 'Bo', last_name: newUuid().slice(0, 8) }),
    async () => changes.update(clinic.id, (await living()).id, { lastName: newUuid().slice(0, 8) }),
    async () => changes.update(clinic.id, (await living()).id, { phoneNumber: '+905321234567' }),
    book,
    changeAppointment,
    renameDoctor,
    sendEmail,
    recordFeedback,
  ]

  /** Erases an imported patient, and returns the name that must not remain. */
  async function erase(): Promise<string> {
    const one = pick((await patients()).filter(({ firstName }) => firstName === 'Canary'))
    const name = 'Erasable'
    await changes.update(clinic.id, one.id, { firstName: name })
    await changes.erase(clinic.id, one.id)
    return name
  }

  /** Every record of a list as the API shows it, by id, without copied names. */
  async function everything(list: string): Promise<unknown[]> {
    const records: { id: string }[] = []
    for (let page = 1, pages = 1; page <= pages; page++) {
      const query = { limit: '100', page: String(page) }
      const { body } = await call(await handlerOf({ id: `list-${list}` }), { headers, query })
      records.push(...body.data)
      pages = body.meta.total_pages
    }
    records.sort((a, b) => (a.id < b.id ? -1 : 1))
    return records.map((record) => ({
      ...record,
      ...('patient' in record && { patient: { id: (record.patient as { id: string }).id } }),
      ...('doctor' in record && { doctor: { id: (record.doctor as { id: string }).id } }),
    }))
  }

  await importFiles(1)
  return { change: () => pick(OPERATIONS)(), importFiles, erase, everything }
}
