/** Dentally: lists saved as CSV. Practitioners are known by their names alone. */
import { converter } from '../../../bin/clinic/import/converters/converter.ts'

export default converter({
  patients: (row) => {
    row.ignore('Title', 'Receive SMS', 'Receive email', 'Marketing consent')
    return {
      patients: {
        ...row.texts({ external_id: 'ID', first_name: 'First name', last_name: 'Last name' }),
        date_of_birth: row.date('Date of birth', 'd/M/yyyy', { empty: ['0/0/00'] }),
        gender: row.oneOf('Gender', { F: 'female', M: 'male', X: 'other' }),
        phone_number: row.phone('Mobile phone', 'GB') ?? row.phone('Home phone', 'GB'),
        email_address: row.text('Email address'),
        national_id: row.text('NHS number')?.replaceAll(' ', ''),
        is_active: row.flag('Active', 'true', 'false'),
        created_at: row.timestamp('Created at', 'd/M/yyyy HH:mm', { zone: 'clinic' }),
      },
    }
  },
  appointments: (row) => ({
    doctors: { external_id: row.text('Practitioner'), full_name: row.text('Practitioner') },
    appointments: {
      ...row.texts({ external_id: 'ID', patient_external_id: 'Patient ID' }),
      doctor_external_id: row.text('Practitioner'),
      appointment_date: row.date('Start time', 'd/M/yyyy HH:mm'),
      start_time: row.time('Start time', 'd/M/yyyy HH:mm'),
      end_time: row.time('Finish time', 'd/M/yyyy HH:mm'),
      status: row.oneOf('State', {
        Completed: 'completed',
        'Did not attend': 'no_show',
        Cancelled: 'cancelled',
      }),
      notes: [row.text('Reason'), row.text('Notes')].filter((text) => text !== null).join(' ') || null,
    },
  }),
  invoices: (row) => {
    row.ignore('Sent at')
    return {
      invoices: {
        ...row.texts({ external_id: 'Reference', invoice_number: 'Reference' }),
        patient_external_id: row.text('Patient ID'),
        issue_date: row.date('Dated on', 'd/M/yyyy'),
        subtotal: row.amount('Amount', '.', 'GBP'),
        status: row.oneOf('Paid', { true: 'paid', false: 'sent' }),
      },
    }
  },
  payments: (row) => ({
    payments: {
      ...row.texts({ external_id: 'ID', invoice_external_id: 'Invoice reference' }),
      amount: row.amount('Amount', '.', 'GBP'),
      payment_method: row.oneOf('Method', { Card: 'card', BACS: 'bank_transfer', Cash: 'cash' }),
      payment_date: row.date('Dated on', 'd/M/yyyy'),
    },
  }),
})
