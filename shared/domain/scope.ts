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

/** Only a clinic's own system has these scopes. The external ids that it sets are those of the clinic's files. */
const CONFIRMING_SCOPES: readonly Scope[] = ['sync.write', 'schedule.write', 'catalogue.write']

/** Whether imports may overwrite a record whose external id a credential with these scopes has set. */
export const confirmsExternalIds = (scopes: readonly Scope[]): boolean =>
  CONFIRMING_SCOPES.some((scope) => scopes.includes(scope))

export const isScope = (text: string): text is Scope => (SCOPES as readonly string[]).includes(text)
