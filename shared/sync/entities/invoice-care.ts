/** The care that imported invoices bill: the appointment, and the doctors and treatments of the invoice and its lines. */

import type { CatalogueReference, PersonReference } from '../../domain/booking/appointment.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import type { Invoice } from '../../domain/money/invoice.ts'
import { appointmentStore } from '../../store/calendar/appointments.ts'
import { treatmentStore } from '../../store/catalogue.ts'
import { doctorStore } from '../../store/doctors.ts'
import type { Table } from '../../store/table/table.ts'
import { requireConfirmed } from '../external-ids/overwrite-check.ts'
import { findReferenced, requireKnown } from '../external-ids/resolve-references.ts'
import { RowRejectedError } from '../outcomes/row-rejected.ts'
import type { ImportRow } from './entity.ts'
import type { LineItemCells } from './line-item-cells.ts'

type Row = ImportRow<{
  readonly patient: string
  readonly appointmentId: string | null | undefined
  readonly doctor: string | null | undefined
  readonly lineItems?: readonly LineItemCells[] | undefined
}>

/**
 * Reads the records that rows refer to. Returns the care of a row with their present names, and what the stored invoice has where the
 * file has no column.
 */
export async function readCare(table: Table, clinic: ClinicId, rows: readonly Row[]) {
  const [appointments, doctors, treatments] = await Promise.all([
    findReferenced(appointmentStore({ table }), clinic, rows, ({ appointmentId }) => [appointmentId]),
    findReferenced(doctorStore({ table }), clinic, rows, ({ doctor, lineItems = [] }) => [
      doctor,
      ...lineItems.map((item) => item.doctor),
    ]),
    findReferenced(treatmentStore({ table }), clinic, rows, ({ lineItems = [] }) =>
      lineItems.map(({ treatment }) => treatment),
    ),
  ])

  function appointmentOf(row: Row, id: string, before: Invoice | null): string {
    if (before?.appointmentId === id) return id
    const column = 'appointment_external_id'
    const stored = requireKnown(appointments.get(id), row.columnOf(column), 'appointment')
    requireConfirmed(row, column, { ...stored, id })
    if (stored.record.patient.id !== row.fields.patient)
      throw new RowRejectedError({
        field: row.columnOf(column),
        issue: 'is an appointment of another patient',
      })
    return id
  }

  /** Whether the appointment that a row names belongs to another patient. */
  function hasMoved({ fields: { appointmentId, patient } }: Row): boolean {
    const found = appointmentId && appointments.get(appointmentId)
    return found ? found.record.patient.id !== patient : false
  }

  function doctorOf(column: string, id: string | null): PersonReference | null {
    return id === null ? null : { id, fullName: requireKnown(doctors.get(id), column, 'doctor').fullName }
  }

  function treatmentOf(column: string, id: string | null): CatalogueReference | null {
    return id === null ? null : { id, name: requireKnown(treatments.get(id), column, 'treatment').name }
  }

  return (row: Row, before: Invoice | null) => {
    const { appointmentId, doctor, lineItems } = row.fields
    return {
      hasMoved: hasMoved(row),
      appointmentId:
        appointmentId === undefined
          ? (before?.appointmentId ?? null)
          : appointmentId && appointmentOf(row, appointmentId, before),
      doctor:
        doctor === undefined
          ? (before?.doctor ?? null)
          : doctorOf(row.columnOf('doctor_external_id'), doctor),
      lineItems: lineItems?.map((item, at) => ({
        ...item,
        doctor: doctorOf(`line_items.${at}.doctor_external_id`, item.doctor),
        treatment: treatmentOf(`line_items.${at}.treatment_external_id`, item.treatment),
      })),
    }
  }
}
