import { describe, expect, it } from 'vitest'
import { SCOPES } from '../../../../shared/domain/scope.ts'
import {
  ENTITY_SCOPES,
  EVENTS,
  IMPORT_COMPLETED,
  importEventDraft,
  mayReadAllEvents,
  maySeeEvent,
  PING,
  scopeOfEvent,
} from '../../../../shared/domain/webhooks/event.ts'

describe('maySeeEvent', () => {
  const scopes = {
    patient: 'patient.read',
    appointment: 'appointment.read',
    invoice: 'finance.read',
    payment: 'finance.read',
    sms: 'communication.read.sms',
    email: 'communication.read.sms',
    doctor: 'appointment.read.availability',
    treatment: 'appointment.read.availability',
    clinic: 'appointment.read.availability',
  } as const

  it.each(EVENTS.filter((event) => event !== IMPORT_COMPLETED))(
    'requires the scope that reads the record of %s',
    (event) => {
      const scope = scopes[event.split('.')[0] as keyof typeof scopes]
      expect(scopeOfEvent(event)).toBe(scope)
      expect(maySeeEvent([scope], event)).toBe(true)
      const others = SCOPES.filter((other) => other !== scope)
      expect(maySeeEvent(others, event)).toBe(false)
    },
  )

  it.each(Object.entries(ENTITY_SCOPES))(
    'requires the scope that reads %s for their import',
    (entity, scope) => {
      const { event, data } = importEventDraft(entity, { imported: 1, updated: 0 })
      expect(maySeeEvent([scope], event, data)).toBe(true)
      expect(
        maySeeEvent(
          SCOPES.filter((other) => other !== scope),
          event,
          data,
        ),
      ).toBe(false)
    },
  )

  it('shows the import of an unknown entity to no credential, and asks for no scope to filter by imports', () => {
    expect(maySeeEvent(SCOPES, IMPORT_COMPLETED, { entity: 'robots' })).toBe(false)
    expect(maySeeEvent([], IMPORT_COMPLETED)).toBe(true)
  })

  it('shows all events only to a credential that may read every kind of record', () => {
    expect(mayReadAllEvents(SCOPES)).toBe(true)
    for (const scope of Object.values(ENTITY_SCOPES))
      expect(mayReadAllEvents(SCOPES.filter((other) => other !== scope))).toBe(false)
  })

  it('requires no scope for a ping', () => {
    expect(scopeOfEvent(PING)).toBeNull()
    expect(maySeeEvent([], PING)).toBe(true)
  })

  it('shows an unknown event to no credential', () => {
    const unknown = 'prescription.created' as never
    expect(scopeOfEvent(unknown)).toBeUndefined()
    expect(maySeeEvent(SCOPES, unknown)).toBe(false)
  })
})
