import { expect, it } from 'vitest'
import { isScope, SCOPES } from '../../../shared/domain/scope.ts'

it.each(SCOPES)('%s is a scope', (scope) => {
  expect(isScope(scope)).toBe(true)
})

it.each(['', 'patient', 'patient.delete', 'Patient.read', 'patient.read '])('%j is not a scope', (text) => {
  expect(isScope(text)).toBe(false)
})

it('lists the scopes of the specification, of the status of appointments and of webhooks', () => {
  expect([...SCOPES].sort()).toEqual([
    'appointment.read',
    'appointment.read.availability',
    'appointment.write',
    'appointment.write.status',
    'communication.read.sms',
    'communication.write.email',
    'communication.write.sms',
    'finance.read',
    'patient.read',
    'patient.read.private',
    'patient.write',
    'webhook.read',
    'webhook.write',
  ])
})
