/** Imports of patients, appointments and invoices, and payments recorded by the operator. */

import { CommandFailure } from '../../../bin/clinic/tool/output.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { NEW_PAYMENT, type Payment, voidPayment } from '../../../shared/domain/money/payment.ts'
import { invoiceBalance, PatientErased } from '../../../shared/store/calendar/invoice-balance.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { commitWithRetry } from '../../../shared/store/table/commit-packed.ts'
import { type InvoiceModel, identified, isErased, type PatientModel, type PaymentModel } from '../model.ts'
import { demand, Register, tick } from '../register.ts'
import { command, pick, type Run, read } from '../run.ts'
import { importRows } from './import-rows.ts'
import { newPatient } from './patients.ts'

export const rowCount = ({ operation }: Run): number => 1 + Math.floor((operation.random[0] ?? 0) * 4)

export const importedPatients = (run: Run) =>
  identified(run.clinic.patients).filter(({ externalId }) => externalId !== null) as (PatientModel & {
    id: string
    externalId: string
  })[]

export async function importPatients(run: Run): Promise<void> {
  const { clinic, operation } = run
  const patients = Array.from({ length: rowCount(run) }, (_, row) => {
    const externalId = `p${operation.number}-${row}`
    const token = `i${operation.number}x${row}${clinic.suffix}`
    const id = clinic.idOf('patient', externalId)
    return newPatient(token, { externalId, id, email: `${token}@example.com` })
  })
  clinic.patients.push(...patients)
  const rows = patients.map(({ externalId, token, email }) => ({
    external_id: externalId,
    first_name: 'Ada',
    last_name: token,
    email_address: email,
  }))
  const result = await importRows(run, 'patients', rows)
  if (!result) return
  demand(result.rejected === 0, () => `patients were rejected: ${result.reasons}`)
  for (const patient of patients) patient.existence = 'certain'
}

/** Appointments of the past, which may overlap. */
export async function importAppointments(run: Run): Promise<void> {
  const { clinic, operation } = run
  const patients = importedPatients(run)
  const bookings = Array.from({ length: rowCount(run) }, (_, row) => {
    const patient = pick(patients, operation.random[1 + row])
    const doctor = pick(clinic.doctors, operation.random[2 + row])
    if (!patient || !doctor) return []
    const externalId = `a${operation.number}-${row}`
    const id = clinic.idOf('appointment', externalId)
    const placement = { doctor: doctor.id, room: null, date: '2020-03-02', from: 600, to: 630 }
    const facts = { patient, placement: new Register(placement), placements: [placement], start: tick() }
    return [
      {
        model: {
          ...facts,
          token: `n${operation.number}x${row}${clinic.suffix}`,
          id,
          existence: 'possible' as const,
          isImported: true,
          freedAt: Number.POSITIVE_INFINITY,
          status: new Register('scheduled'),
        },
        row: {
          ...{
            external_id: externalId,
            patient_external_id: patient.externalId,
            doctor_external_id: doctor.externalId,
          },
          appointment_date: '2020-03-02',
          start_time: '10:00',
          end_time: '10:30',
          notes: `n${operation.number}x${row}${clinic.suffix}`,
        },
      },
    ]
  }).flat()
  if (bookings.length === 0) return
  const models: (typeof clinic.bookings)[number][] = bookings.map(({ model }) => model)
  clinic.bookings.push(...models)
  const result = await importRows(
    run,
    'appointments',
    bookings.map(({ row }) => row),
  )
  if (!result) return
  settleRows(models, result.rejected)
}

export async function importInvoices(run: Run): Promise<void> {
  const { clinic, operation } = run
  const invoices = Array.from({ length: rowCount(run) }, (_, row): InvoiceModel[] => {
    const patient = pick(importedPatients(run), operation.random[1 + row])
    if (!patient) return []
    const externalId = `f${operation.number}-${row}`
    const id = clinic.idOf('invoice', externalId)
    const number = `f${operation.number}x${row}${clinic.suffix}`
    return [{ number, externalId, patient, id, total: 100 + row, existence: 'possible' }]
  }).flat()
  if (invoices.length === 0) return
  clinic.invoices.push(...invoices)
  const rows = invoices.map(({ externalId, patient, number, total }) => ({
    external_id: externalId,
    patient_external_id: patient.externalId,
    invoice_number: number,
    ...{
      issue_date: '2026-04-01',
      currency: 'EUR',
      line_items: [{ description: 'Consultation', unit_price: total }],
    },
  }))
  const result = await importRows(run, 'invoices', rows)
  if (result) settleRows(invoices, result.rejected)
}

/** Rows are rejected for erased patients only; which of them is not known when a patient is being erased. */
export function settleRows(
  records: { existence: string; readonly patient: PatientModel }[],
  rejected: number,
): void {
  const uncertain = records.filter(({ patient }) => isErased(patient))
  demand(rejected <= uncertain.length, () => `${rejected} rows were rejected`)
  for (const record of records) if (!isErased(record.patient)) record.existence = 'certain'
}

/** As `payment add --external-id` does. */
export async function addPayment(run: Run): Promise<void> {
  const { clinic, operation } = run
  const invoice = pick(identified(clinic.invoices), operation.random[0])
  if (!invoice) return
  const token = `y${operation.number}${clinic.suffix}`
  const amount = 1 + Math.floor((operation.random[1] ?? 0) * 20)
  const id = clinic.idOf('payment', token)
  const payment: PaymentModel = { id, token, invoice, amount, existence: 'possible', voiding: 'none' }
  clinic.payments.push(payment)
  const outcome = await command(run, async (table) => {
    await commitWithRetry(async () => {
      if (await paymentStore({ table }).find(clinic.id as ClinicId, id)) return null
      const changes = invoiceBalance(table).buildChangeset(clinic.id as ClinicId, invoice.id, [
        {
          id,
          build: ({ currency, number, patient }) => ({
            ...NEW_PAYMENT,
            id,
            amount: amount * 100,
            currency,
            type: 'payment',
            method: 'card',
            status: 'completed',
            invoice: { id: invoice.id, number },
            patient: { id: patient.id, fullName: patient.fullName },
            description: token,
            date: '2026-04-02',
            createdAt: new Date().toISOString(),
          }),
        },
      ])
      return changes.catch((error) => {
        throw error instanceof PatientErased ? new CommandFailure('erased') : error
      })
    })
    if (!(await paymentStore({ table }).find(clinic.id as ClinicId, id)))
      throw new CommandFailure('no invoice')
  })
  demand(
    outcome.kind !== 'rejected' || isErased(invoice.patient),
    () => `a payment of invoice ${invoice.number} was rejected`,
  )
  if (outcome.kind === 'done') payment.existence = 'certain'
}

/** As `payment void` does. */
export async function voidOnePayment(run: Run): Promise<void> {
  const { clinic, operation } = run
  const payment = pick(identified(clinic.payments), operation.random[0])
  if (!payment) return
  const { id, invoice } = payment
  const wasVoided = payment.voiding
  if (wasVoided === 'none') payment.voiding = 'possible'
  const at = new Date().toISOString()
  const outcome = await command(run, (table) =>
    commitWithRetry(() => {
      const build = (_: unknown, before: Payment | null) => {
        // An earlier attempt was committed, and its response was lost.
        if (before?.voidedAt === at) return before
        const voided = before && voidPayment(before, at, payment.token)
        if (!voided) throw new CommandFailure('not to be voided')
        return voided
      }
      const changes = invoiceBalance(table).buildChangeset(clinic.id as ClinicId, invoice.id ?? '', [
        { id, build },
      ])
      return changes.catch((error) => {
        throw error instanceof PatientErased ? new CommandFailure('erased') : error
      })
    }),
  )
  demand(
    outcome.kind !== 'rejected' ||
      wasVoided !== 'none' ||
      payment.voiding === 'certain' ||
      isErased(invoice.patient),
    () => `payment ${payment.token} could not be voided`,
  )
  if (outcome.kind === 'done') payment.voiding = 'certain'
}

/** Imports payments, some of them a second time. */
export async function importPayments(run: Run): Promise<void> {
  const { clinic, operation } = run
  const invoice = pick(identified(clinic.invoices), operation.random[1])
  if (!invoice) return
  const payments = Array.from({ length: rowCount(run) }, (_, row): PaymentModel => {
    const token = `z${operation.number}x${row}${clinic.suffix}`
    const id = clinic.idOf('payment', token)
    return { id, token, invoice, amount: 2 + row, existence: 'possible', voiding: 'none' }
  })
  clinic.payments.push(...payments)
  const rows = payments.map(({ token, amount }) => ({
    external_id: token,
    invoice_external_id: invoice.externalId,
    amount,
    payment_method: 'cash',
    payment_date: '2026-04-03',
    description: token,
  }))
  const result = await importRows(run, 'payments', rows)
  if (!result) return
  if (result.rejected === 0) for (const payment of payments) payment.existence = 'certain'
  else demand(isErased(invoice.patient), () => `payments were rejected: ${result.reasons}`)
}

/** The amount that an invoice shows as paid is the sum of the payments that it lists. */
export async function readInvoice(run: Run): Promise<void> {
  const invoice = pick(identified(run.clinic.invoices), run.operation.random[0])
  if (!invoice) return
  const response = await read(run, 'get-invoice', { path: { id: invoice.id } })
  if (!response) return
  demand(response.status === 200, () => `GET of an invoice returned ${response.status}`)
  const { paid_amount, payments } = response.body.data
  const sum = payments
    .filter(({ status }: { status: string }) => status === 'completed')
    .reduce((total: number, { amount }: { amount: number }) => total + amount, 0)
  demand(Math.abs(sum - paid_amount) < 0.001, () => `paid ${paid_amount}, but its payments make ${sum}`)
}
