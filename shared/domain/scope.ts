/** Every scope that a credential can have. */
export const SCOPES = [
  'patient.read',
  'patient.read.private',
  'patient.write',
  'appointment.read',
  'appointment.read.availability',
  'appointment.write',
  'appointment.write.status',
  'finance.read',
  'finance.write',
  'communication.read.sms',
  'communication.write.sms',
  'communication.write.email',
  'webhook.read',
  'webhook.write',
] as const

export type Scope = (typeof SCOPES)[number]

export const isScope = (text: string): text is Scope => (SCOPES as readonly string[]).includes(text)
