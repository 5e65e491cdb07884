/** A plain German spreadsheet, as Excel saves it: import it with `--encoding windows-1252`. */
import { converter } from '../../../bin/clinic/import/converters/converter.ts'

export default converter({
  doctors: (row) => ({
    doctors: row.texts({ external_id: 'Kürzel', full_name: 'Arzt', specialty: 'Fachrichtung' }),
  }),
  patients: (row) => {
    row.ignore('Anrede', 'Ort')
    return {
      patients: {
        ...row.texts({ external_id: 'Patientennummer', first_name: 'Vorname', last_name: 'Nachname' }),
        date_of_birth: row.date('Geburtsdatum', 'd.M.yyyy'),
        gender: row.oneOf('Geschlecht', { weiblich: 'female', männlich: 'male', divers: 'other' }),
        phone_number: row.phone('Mobil', 'DE'),
        email_address: row.text('E-Mail'),
        created_at: row.timestamp('Angelegt am', 'd.M.yyyy', { zone: 'clinic' }),
      },
    }
  },
  appointments: (row) => ({
    appointments: {
      ...row.texts({ external_id: 'Termin-Nr.', patient_external_id: 'Patientennummer' }),
      doctor_external_id: row.text('Kürzel'),
      appointment_date: row.date('Datum', 'd.M.yyyy'),
      start_time: row.time('Beginn', ['H:mm', 'H.mm']),
      end_time: row.time('Ende', ['H:mm', 'H.mm']),
      status: row.oneOf('Status', {
        erledigt: 'completed',
        abgesagt: 'cancelled',
        'nicht erschienen': 'no_show',
      }),
      notes: row.text('Bemerkung'),
    },
  }),
  invoices: (row) => ({
    invoices: {
      ...row.texts({ external_id: 'Rechnungsnummer', invoice_number: 'Rechnungsnummer' }),
      patient_external_id: row.text('Patientennummer'),
      issue_date: row.date('Rechnungsdatum', 'd.M.yyyy'),
      subtotal: row.amount('Netto', ',', 'EUR'),
      tax_amount: row.amount('MwSt.', ',', 'EUR'),
      total_amount: row.amount('Brutto', ',', 'EUR'),
      status: row.oneOf('Status', { offen: 'sent', bezahlt: 'paid', storniert: 'cancelled' }),
    },
  }),
  payments: (row) => ({
    payments: {
      ...row.texts({ external_id: 'Beleg-Nr.', invoice_external_id: 'Rechnungsnummer' }),
      amount: row.amount('Betrag', ',', 'EUR'),
      payment_method: row.oneOf('Zahlungsart', {
        bar: 'cash',
        'EC-Karte': 'card',
        Überweisung: 'bank_transfer',
      }),
      payment_date: row.date('Zahlungsdatum', 'd.M.yyyy'),
    },
  }),
})
