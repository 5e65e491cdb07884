import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import {
  ACCEPTED_EMAIL_BODY,
  ACCEPTED_SMS_BODY,
  type AcceptedEmail,
  type AcceptedSms,
  APPOINTMENT_BODY,
  anonymizeResponse,
  PATIENT_BODY,
  PRIVATE_PATIENT_BODY,
} from '../../../shared/api/anonymize-response.ts'
import { Appointment, renderAppointment } from '../../../shared/api/appointments.ts'
import { renderAcceptedMessage } from '../../../shared/api/new-message.ts'
import { Patient, PatientDetails, renderPatient, renderPatientDetails } from '../../../shared/api/patients.ts'
import type { Clinic, ClinicId } from '../../../shared/domain/clinic.ts'
import type { FieldPolicies } from '../../../shared/domain/field-policy.ts'
import { filledPatient, filledRecords } from '../../support/filled-records.ts'

const clinic: Clinic = {
  id: '6d0e2a7c-0000-4000-8000-000000000000' as ClinicId,
  name: 'Clinic',
  timezone: 'Europe/Istanbul',
  currency: 'EUR',
  appointmentMinutes: 30,
  createdAt: '2026-05-01T07:00:00.000Z',
}
const patient = filledPatient()
const { appointment, message } = filledRecords(patient)
const anonymized = (response: unknown) => JSON.parse(anonymizeResponse(JSON.stringify(response)))
const erasedPatient = { id: patient.id, full_name: 'Erased Patient' }

describe('anonymizeResponse', () => {
  const shown = {
    ...erasedPatient,
    first_name: 'Erased',
    last_name: 'Patient',
    date_of_birth: null,
    gender: null,
    phone_number: null,
    email_address: null,
    is_active: true,
    created_at: '2026-05-01T10:00:00+03:00',
    updated_at: '2026-05-01T10:00:00+03:00',
    erased_at: null,
  }

  it('replaces the personal data of a created patient', () => {
    const { data } = anonymized({ data: renderPatient(patient, clinic) })
    expect(Patient.parse(data)).toEqual(shown)
  })

  it('replaces the private fields of a patient in a response that has them', () => {
    const full = renderPatientDetails(patient, { clinic, scopes: ['patient.read.private'] })
    expect(full).toMatchObject({ national_id: patient.nationalId, notes: patient.notes })
    const { data } = anonymized({ data: full })
    expect(PatientDetails.parse(data)).toEqual({ ...shown, national_id: null, notes: null })
  })

  it('replaces the notes, the reason and the name in an appointment', () => {
    const rendered = renderAppointment(appointment, clinic)
    const { data } = anonymized({ data: rendered })
    const erased = { patient: erasedPatient, notes: null, cancellation_reason: null }
    expect(Appointment.parse(data)).toEqual({ ...rendered, ...erased })
  })

  it('replaces the recipient, and the name where there is one, of an accepted message', () => {
    expect(anonymized(renderAcceptedMessage({ ...message, channel: 'sms' }))).toEqual({
      data: { id: message.id, channel: 'sms', status: 'queued', recipient: 'erased' },
    })
    expect(anonymized(renderAcceptedMessage(message))).toEqual({
      data: { channel: 'email', status: 'queued', recipient: 'erased', patient: erasedPatient },
    })
  })

  it('keeps the order of fields', () => {
    const rendered = renderPatient(patient, clinic)
    expect(Object.keys(anonymized({ data: rendered }).data)).toEqual(Object.keys(rendered))
  })

  it('returns the body of an error as it is', () => {
    const body = '{"error":"CONFLICT","message":"errors.developer_api.slot_unavailable"}'
    expect(anonymizeResponse(body)).toBe(body)
  })

  it('removes all data of an unknown kind', () => {
    expect(anonymized({ data: { nickname: 'Canary' } })).toEqual({ data: null })
  })
})

/** The same body with a new field that no list contains. */
type WithNewField<Body> = Body & { readonly new_field?: string | null }

describe('a field of a body without a policy', () => {
  it('does not compile', () => {
    // @ts-expect-error new_field has no policy
    PATIENT_BODY satisfies FieldPolicies<WithNewField<z.input<typeof Patient>>>
    // @ts-expect-error new_field has no policy
    PRIVATE_PATIENT_BODY satisfies FieldPolicies<WithNewField<z.input<typeof PatientDetails>>>
    // @ts-expect-error new_field has no policy
    APPOINTMENT_BODY satisfies FieldPolicies<WithNewField<z.input<typeof Appointment>>>
    // @ts-expect-error new_field has no policy
    ACCEPTED_SMS_BODY satisfies FieldPolicies<WithNewField<AcceptedSms>>
    // @ts-expect-error new_field has no policy
    ACCEPTED_EMAIL_BODY satisfies FieldPolicies<WithNewField<AcceptedEmail>>
    const complete = [
      PATIENT_BODY satisfies FieldPolicies<z.input<typeof Patient>>,
      PRIVATE_PATIENT_BODY satisfies FieldPolicies<z.input<typeof PatientDetails>>,
      APPOINTMENT_BODY satisfies FieldPolicies<z.input<typeof Appointment>>,
      ACCEPTED_SMS_BODY satisfies FieldPolicies<AcceptedSms>,
      ACCEPTED_EMAIL_BODY satisfies FieldPolicies<AcceptedEmail>,
    ]
    expect(complete).toHaveLength(5)
  })
})
