/** Checks of patients, appointments, invoices and payments in the API when a history has ended. */
import type { ClinicModel, PatientModel } from '../model.ts'
import { isErased } from '../model.ts'
import { minutesOf, placementFields } from '../operations/calendar.ts'
import { demand } from '../register.ts'
import type { World } from '../world.ts'
import { compareExistence, fetchJson, readAll } from './read-lists.ts'

export async function checkPatients(world: World, clinic: ClinicModel): Promise<void> {
  const stored = await readAll(world, clinic, 'list-patients')
  compareExistence(
    'patient',
    clinic.patients,
    stored,
    (model, record) => (model.id === null ? record.last_name === model.token : record.id === model.id),
    ({ token }) => token,
  )
  for (const patient of clinic.patients) {
    const record = stored.find(({ id }) => id === patient.id)
    if (!record) continue
    if (isErased(patient)) {
      demand(record.phone_number === null, () => `erased patient ${patient.token} has a phone number`)
      continue
    }
    const names = patient.lastName.possible()
    demand(
      names.includes(record.last_name),
      () => `${patient.token} is called ${record.last_name}, not ${names}`,
    )
    const found = await readAll(world, clinic, 'list-patients', { search: record.last_name })
    demand(
      found.length === 1 && found[0].id === patient.id,
      () => `search of ${record.last_name} found ${found.length}`,
    )
  }
}

const OCCUPYING = ['scheduled', 'completed']

export async function checkAppointments(world: World, clinic: ClinicModel): Promise<void> {
  const stored = await readAll(world, clinic, 'list-appointments')
  compareExistence(
    'appointment',
    clinic.bookings,
    stored,
    (model, record) => (model.id === null ? record.notes === model.token : record.id === model.id),
    ({ token }) => token,
    isOfErasedPatient(clinic),
  )
  for (const booking of clinic.bookings) {
    const record = stored.find(({ id }) => id === booking.id)
    if (!record) continue
    const placements = booking.placement
      .possible()
      .map((placement) => JSON.stringify(placementFields(placement)))
    const { doctor, room, appointment_date, start_time, end_time } = record
    const duration = minutesOf(end_time) - minutesOf(start_time)
    const actual = { doctor_id: doctor.id, room_id: room?.id ?? null, appointment_date, start_time, duration }
    demand(
      placements.includes(JSON.stringify(actual)),
      () => `${booking.token} takes place ${JSON.stringify(actual)}, not ${placements}`,
    )
    const statuses = booking.status.possible()
    demand(statuses.includes(record.status), () => `${booking.token} is ${record.status}, not ${statuses}`)
    const isKept = booking.patient.erasure === 'certain' && record.status === 'scheduled'
    demand(!isKept, () => `${booking.token} is scheduled, although its patient was erased`)
    // Repeating a final status is allowed, and changes nothing.
    demand(
      new Set(booking.status.written('certain')).size <= 1,
      () => `${booking.token} changed its final status`,
    )
  }
  const occupying = stored.filter(
    ({ status, appointment_date }) => OCCUPYING.includes(status) && appointment_date > '2100',
  )
  for (const [at, one] of occupying.entries())
    for (const two of occupying.slice(at + 1)) {
      const isSameRoom = one.room !== null && one.room.id === two.room?.id
      const isSameDay =
        (one.doctor.id === two.doctor.id || isSameRoom) && one.appointment_date === two.appointment_date
      const isOverlap = isSameDay && one.start_time < two.end_time && two.start_time < one.end_time
      demand(!isOverlap, () => `two appointments overlap: ${JSON.stringify([one, two])}`)
    }
}

export async function checkInvoices(world: World, clinic: ClinicModel): Promise<void> {
  const invoices = await readAll(world, clinic, 'list-invoices')
  compareExistence(
    'invoice',
    clinic.invoices,
    invoices,
    ({ id, token }, record) => record.id === id || record.line_items[0]?.description === token,
    ({ token }) => token,
    isOfErasedPatient(clinic),
  )
  const numbers = invoices.flatMap(({ invoice_number }) => /^\d{4}-(\d{6})$/.exec(invoice_number)?.[1] ?? [])
  const created = invoices.filter(({ line_items }) => line_items.length > 0)
  const ordinals = created.map((_, at) => String(at + 1).padStart(6, '0'))
  // An erasure has replaced the other numbers.
  const isConsecutive = numbers.every((number) => ordinals.includes(number))
  demand(
    isConsecutive && new Set(numbers).size === numbers.length,
    () => `the invoices have the numbers ${numbers}, of ${created.length}`,
  )
  const payments = await readAll(world, clinic, 'list-payments')
  compareExistence(
    'payment',
    clinic.payments,
    payments,
    ({ id, invoice, amount }, record) =>
      record.id === id && record.invoice_id === invoice.id && record.amount === amount,
    ({ token }) => token,
  )
  for (const { id, token, invoice, voiding } of clinic.payments) {
    const record = payments.find((one) => one.id === id)
    const statuses = { none: ['completed'], possible: ['completed', 'failed'], certain: ['failed'] }[voiding]
    demand(!record || statuses.includes(record.status), () => `payment ${token} is ${record.status}`)
    demand(
      !record || (record.status === 'failed') === (record.voided_at !== null),
      () => `${token} is half voided`,
    )
    const isDescribed = !record || record.description === token || isErased(invoice.patient)
    demand(isDescribed, () => `payment ${token} is described as ${record.description}`)
  }
  for (const { id, total_amount, balance_due } of invoices) {
    const { data } = await fetchJson(world, clinic, 'get-invoice', { path: { id } })
    const paid = payments
      .filter(({ invoice_id, status }) => invoice_id === id && status === 'completed')
      .reduce((sum, { amount }) => sum + amount, 0)
    demand(
      Math.abs(data.paid_amount - paid) < 0.001,
      () => `invoice ${id}: paid ${data.paid_amount}, payments ${paid}`,
    )
    demand(Math.abs(total_amount - paid - balance_due) < 0.001, () => `invoice ${id}: due ${balance_due}`)
  }
}

/** Records of erased patients have lost the text by which a history recognizes them. */
export function isOfErasedPatient(clinic: ClinicModel): (record: any) => boolean {
  const erased = new Set(clinic.patients.filter(isErased).map(({ id }) => id))
  return ({ patient }) => erased.has(patient.id)
}

/** Nothing that identified an erased patient is left anywhere in the table. */
export async function checkErasure(world: World, clinics: readonly ClinicModel[]): Promise<void> {
  const erased = clinics.flatMap(({ patients, messages, bookings, invoices, payments }) =>
    patients
      .filter(({ erasure }) => erasure === 'certain')
      .map((patient) => ({ patient, messages, bookings, invoices, payments })),
  )
  if (erased.length === 0) return
  const text = await world.tableText()
  for (const { patient, messages, bookings, invoices, payments } of erased) {
    const traces = [
      ...tracesOf(patient),
      ...messages.filter((one) => one.patient === patient).map(({ token }) => token),
      ...bookings.filter((one) => one.patient === patient).map(({ token }) => token),
      ...invoices.filter((one) => one.patient === patient).map(({ token }) => token),
      ...payments.filter(({ invoice }) => invoice.patient === patient).map(({ token }) => token),
    ]
    for (const trace of traces) {
      const at = text.search(new RegExp(`(?<![a-z0-9])${trace.replace('+', '\\+')}(?![a-z0-9])`))
      demand(
        at < 0,
        () => `${trace} of an erased patient is in ${text.slice(Math.max(0, at - 300), at + 100)}`,
      )
    }
  }
}

const tracesOf = ({ phone, email, token, lastName }: PatientModel): string[] =>
  [phone, email, token, ...lastName.possible()].filter((trace) => trace !== null)
