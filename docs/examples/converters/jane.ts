/** Jane: reports of clients, appointments and sales, saved as CSV. Consents to marketing are not those to messages of the clinic. */
import { converter } from '../../../bin/clinic/import/converters/converter.ts'

export default converter({
  Clients: (row) => {
    row.ignore('Middle Name', 'Preferred First Name', 'Email Marketing Consent', 'SMS Reminder Consent')
    return {
      patients: {
        ...row.texts({ external_id: 'Patient Number', first_name: 'First Name', last_name: 'Last Name' }),
        email_address: row.text('Email', { match: /^[^@\s]+@[^@\s]+$/, invalid: null }),
        phone_number: row.phone('Mobile Phone', 'CA') ?? row.phone('Home Phone', 'CA'),
        gender: row.oneOf('Sex', { Female: 'female', Male: 'male', 'Non-binary': 'other' }),
        date_of_birth: row.date('Birth Date', 'yyyy-MM-dd'),
        national_id: row.text('Personal Health Number')?.replaceAll(' ', ''),
      },
    }
  },
  Appointments: (row) => {
    row.ignore('Patient', 'Price')
    return {
      doctors: { external_id: row.text('Staff Member'), full_name: row.text('Staff Member') },
      appointments: {
        ...row.texts({ external_id: 'Appointment Number', patient_external_id: 'Patient Number' }),
        doctor_external_id: row.text('Staff Member'),
        appointment_date: row.date('Start At', 'yyyy-MM-dd h:mma'),
        start_time: row.time('Start At', 'yyyy-MM-dd h:mma'),
        end_time: row.time('End At', 'yyyy-MM-dd h:mma'),
        status: row.oneOf('Status', {
          Arrived: 'completed',
          Booked: 'scheduled',
          'No Show': 'no_show',
          Cancelled: 'cancelled',
        }),
        notes: row.text('Treatment Name'),
      },
    }
  },
  Sales: {
    groupBy: 'Invoice #',
    convert: ([first, ...others]) => ({
      invoices: {
        ...first.texts({ external_id: 'Invoice #', invoice_number: 'Invoice #' }),
        issue_date: first.date('Invoice Date', 'yyyy-MM-dd'),
        patient_external_id: first.text('Patient Number'),
        status: first.oneOf('Status', { Paid: 'paid', Unpaid: 'sent' }),
        line_items: [first, ...others].map((row) => {
          row.ignore('Patient', 'Staff Member', 'Sales Tax Name')
          return {
            description: row.text('Item'),
            quantity: row.number('Quantity', '.'),
            unit_price: row.amount('Unit Price', '.', 'CAD'),
            tax_amount: row.amount('Sales Tax', '.', 'CAD'),
            total_amount: row.amount('Total', '.', 'CAD'),
          }
        }),
      },
    }),
  },
})
