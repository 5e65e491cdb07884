/**
 * Outlook: Open & Export, Export to a file, CSV, in an English Outlook of Ireland: import it with `--encoding windows-1252`. The account of
 * a contact is the number of the patient.
 */
import { converter } from '../../../bin/clinic/import/converters/converter.ts'

export default converter({
  contacts: (row) => {
    row.ignore('Title', 'Middle Name', 'E-mail Type', 'Anniversary', 'Private', 'Sensitivity')
    return {
      patients: {
        external_id: row.text('Account'),
        first_name: row.text('First Name'),
        last_name: row.text('Last Name'),
        phone_number: row.phone('Mobile Phone', 'IE') ?? row.phone('Home Phone', 'IE'),
        email_address: row.text('E-mail Address'),
        date_of_birth: row.date('Birthday', 'd/M/yyyy', { empty: ['0/0/00'] }),
        gender: row.oneOf('Gender', { Male: 'male', Female: 'female', Unspecified: 'unknown' }),
        notes: row.text('Notes'),
      },
    }
  },
})
