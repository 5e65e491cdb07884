/** Every scope that a credential can have. */
export const SCOPES = [
  'patient.read',
  'patient.read.private',
  'patient.write',
  'appointment.read',
  'appointment.read.availability',
  'appointment.write',
  'appointment.write.status',
  'schedule.read',
  'schedule.write',
  'catalogue.write',
  'finance.read',
  'finance.write',
  'invoice.write',
  'communication.read.sms',
  'communication.write.sms',
  'communication.write.email',
  'webhook.read',
  'webhook.write',
  'sync.write',
] as const

export type Scope = (typeof SCOPES)[number]

export const isScope = (text: string): text is Scope => (SCOPES as readonly string[]).includes(text)
