/** Creating a patient. Apart from the other routes of patients: the rules of phone numbers are a quarter of a bundle. */
import * as z from 'zod'
import { E164, GENDERS } from '../domain/patient.ts'
import { validPhoneNumber } from '../domain/phone-number.ts'
import { emailAddress, personName } from '../domain/text-fields.ts'
import { Patient } from './patients.ts'
import { defineRoute } from './route.ts'
import { CalendarDate, envelopeOf, oneOf } from './schemas.ts'

const Name = personName.meta({ maxLength: 100 })

const NewPatient = z
  .strictObject({
    first_name: Name,
    last_name: Name,
    // Checked by the endpoint, because the schema does not know the current date in the clinic's time zone.
    date_of_birth: CalendarDate.nullish().meta({ description: 'Must not be in the future.' }),
    gender: oneOf(GENDERS).nullish(),
    phone_number: validPhoneNumber
      .meta({ pattern: E164.source })
      .nullish()
      .meta({ description: "In E.164 format. Must be valid in its country's numbering plan." }),
    email_address: emailAddress
      .meta({ maxLength: 254, pattern: String.raw`^[^\s@]{1,64}@([^\s@.]{1,63}\.)+[^\s@.]{1,63}$` })
      .nullish(),
  })
  .meta({ id: 'NewPatient' })

export const createPatient = defineRoute({
  id: 'create-patient',
  method: 'POST',
  path: '/patients',
  summary: 'Create a patient',
  description:
    'Search finds the patient immediately. Several patients may share a phone number or an email address, as families do.',
  scope: 'patient.write',
  body: NewPatient,
  response: { status: 201, body: envelopeOf(Patient), record: {}, location: '/patients' },
  errors: [],
  uses: {
    table: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'BatchWriteItem'],
    shared: ['announced-events'],
    memory: 1024,
  },
})
