/**
 * Families of partitions, by names. A function may access the families of its calls in docs/grants.json, and no others
 * (infra/functions/grants.ts). This file imports nothing: every bundle has a part of it.
 */

/**
 * The families of clinics' partitions, by what follows the clinic in the key. After `#`, the id of a record follows, or the number
 * of a segment.
 */
export const CLINIC_FAMILIES = {
  clinic: 'C',
  'clinic-credentials': 'K',
  doctors: 'DR',
  'doctor-days': 'D#',
  departments: 'CD',
  rooms: 'CR',
  'room-days': 'RD#',
  holds: 'H',
  treatments: 'CT',
  'price-lists': 'CP',
  patients: 'P',
  'patient-list': 'PL',
  'patient-head': 'PH',
  'patient-search': 'PS#',
  'patient-search-changes': 'PC',
  'inactive-patients': 'PI',
  'national-ids': 'PN',
  'national-id-secret': 'PNS',
  'patient-changes': 'UP',
  'external-ids': 'X',
  'external-id-secret': 'XS',
  'former-external-ids': 'XF',
  'stale-copies': 'F',
  appointments: 'A',
  'appointment-list': 'AL',
  'appointments-of-doctors': 'AD#',
  'appointments-of-patients': 'AP#',
  'appointment-tallies': 'AT',
  'appointment-tallies-of-doctors': 'AT#',
  'appointment-changes': 'UA',
  invoices: 'I',
  'invoice-list': 'IL',
  'invoices-of-patients': 'IP#',
  'invoices-by-number': 'IN#',
  'taken-numbers': 'IX',
  'invoice-counters': 'IC',
  'invoice-tallies': 'IT',
  'invoice-changes': 'UI',
  payments: 'Y',
  'payment-list': 'YL',
  'payments-of-patients': 'YP#',
  'payments-of-invoices': 'YI#',
  'payment-tallies': 'YT',
  'payment-changes': 'UY',
  messages: 'M',
  'message-list': 'ML',
  'messages-of-patients': 'MP#',
  'message-tallies': 'MT',
  'message-changes': 'UM',
  'message-quotas': 'MQ',
  'stored-responses': 'R',
  events: 'E',
  'event-head': 'EH',
  webhooks: 'W',
  'webhook-count': 'WN',
  'webhook-health': 'WS',
  deliveries: 'WD#',
} as const

/**
 * Families whose partitions do not begin with a clinic: when something is due, which message has a provider's id, and what imports and
 * changes of the catalogue depend on.
 */
export type SharedFamily =
  | 'announced-events'
  | 'due-messages'
  | 'unresolved-messages'
  | 'provider-ids'
  | 'due-deliveries'
  | 'due-refreshes'
  | 'import-states'
  | 'erasures'

export type Family = keyof typeof CLINIC_FAMILIES | SharedFamily
