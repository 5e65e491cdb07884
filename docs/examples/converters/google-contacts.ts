/**
 * Google Contacts: Export, Google CSV. It has no ids, so the name and the birthday are the external id: rows that change them become new
 * patients.
 */
import { converter, Problem } from '../../../bin/clinic/import/converters/converter.ts'

/** Several values of a cell are separated by ` ::: `. */
const EMAIL = /^([^\s:@]+@[^\s:@]+)(?: :::.*)?$/

export default converter({
  contacts: (row) => {
    row.ignore('Middle Name', 'Nickname', 'Labels', 'E-mail 1 - Label')
    row.ignore('Phone 1 - Label', 'Phone 2 - Label', 'Address 1 - Formatted')
    const names = [row.text('First Name'), row.text('Last Name')]
    const birthday = row.text('Birthday')
    const id = [...names, birthday].filter((text) => text !== null).join(' ')
    if (id === '') throw new Problem('has neither a name nor a birthday')
    return {
      patients: {
        external_id: id,
        first_name: row.text('First Name'),
        last_name: row.text('Last Name'),
        // A birthday without a year begins with two dashes.
        date_of_birth: birthday?.startsWith('--') ? null : row.date('Birthday', 'yyyy-MM-dd'),
        email_address: row.text('E-mail 1 - Value', { match: EMAIL, invalid: null }),
        phone_number:
          row.phone('Phone 1 - Value', 'US', { invalid: null }) ??
          row.phone('Phone 2 - Value', 'US', { invalid: null }),
        notes: row.text('Notes'),
      },
    }
  },
})
