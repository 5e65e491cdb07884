/** Cliniko: Settings, Data exports. It exports no practitioners: doctors.csv is written by hand. */
import { converter } from '../../../bin/clinic/import/converters/converter.ts'

const [DATES, TIMES] = [['d MMM yyyy', 'd/M/yyyy'], 'd MMM yyyy HH:mm:ss xx'] as const

export default converter({
  doctors: (row) => ({
    doctors: {
      external_id: row.text('Practitioner ID'),
      ...row.texts({ full_name: 'Practitioner', specialty: 'Designation' }),
    },
  }),
  patients: (row) => {
    row.ignore('Title', 'City', 'Created At', 'Unapplied Account Credit')
    return {
      patients: {
        ...row.texts({ external_id: 'Patient ID', first_name: 'First Name' }),
        ...row.texts({ last_name: 'Last Name', email_address: 'Email' }),
        date_of_birth: row.date('Date Of Birth', DATES),
        gender: row.oneOf('Gender', { Male: 'male', Female: 'female', 'Not specified': 'unknown' }),
        phone_number: row.phone('Mobile', 'AU'),
      },
    }
  },
  appointments: (row) => {
    const isMissed = row.flag('Did Not Arrive', 'Yes', 'No')
    const hasArrived = row.flag('Patient Arrived', 'Yes', 'No')
    const cancelled_at = row.timestamp('Cancelled At', TIMES)
    return {
      appointments: {
        ...row.texts({ external_id: 'Appointment ID', patient_external_id: 'Patient ID' }),
        ...row.texts({ doctor_external_id: 'Practitioner ID', notes: 'Notes' }),
        appointment_date: row.date('Appointment Start', TIMES, { offset: 'clinic' }),
        start_time: row.time('Appointment Start', TIMES, { offset: 'clinic' }),
        end_time: row.time('Appointment End', TIMES, { offset: 'clinic' }),
        status: cancelled_at ? 'cancelled' : isMissed ? 'no_show' : hasArrived ? 'completed' : 'scheduled',
        cancelled_at,
      },
    }
  },
  invoices: (row) => ({
    invoices: {
      ...row.texts({ external_id: 'Invoice Number', invoice_number: 'Invoice Number' }),
      patient_external_id: row.text('Patient ID'),
      issue_date: row.date('Issue Date', DATES),
      subtotal: row.amount('Net Amount', '.', 'AUD'),
      tax_amount: row.amount('Tax Amount', '.', 'AUD'),
      total_amount: row.amount('Total Amount', '.', 'AUD'),
      status: row.oneOf('Status', { Open: 'sent', Closed: 'paid', 'Written off': 'cancelled' }),
    },
  }),
  payments: (row) => ({
    payments: {
      ...row.texts({ external_id: 'Payment Number', invoice_external_id: 'Invoice Number' }),
      amount: row.amount('Amount', '.', 'AUD'),
      payment_method: row.oneOf('Payment Type', { EFTPOS: 'card', Cash: 'cash', HICAPS: 'insurance' }),
      payment_date: row.date('Payment Date', DATES),
    },
  }),
})
