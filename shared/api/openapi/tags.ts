import type { Route } from '../route.ts'
import type { Json } from './schemas.ts'

type Tag = { readonly name: string; readonly description: string; readonly paths: readonly string[] }

/** The chapters of the document, by the first segment of paths. */
const TAGS: readonly Tag[] = [
  { name: 'Patients', description: 'Read, search and enter patients.', paths: ['patients'] },
  {
    name: 'Appointments',
    description: 'Doctors, their free slots, and bookings.',
    paths: ['doctors', 'availability', 'appointments'],
  },
  { name: 'Finance', description: 'Invoices and payments.', paths: ['invoices', 'payments'] },
  {
    name: 'Messages',
    description: 'SMS and emails to patients, and the log of all that were sent.',
    paths: ['messages'],
  },
  {
    name: 'Webhooks',
    description: 'Endpoints that events are delivered to, their deliveries, and the log of events.',
    paths: ['webhooks', 'events'],
  },
]

/** @throws Error for a path of no chapter */
export function tagOf({ path }: Pick<Route, 'path'>): string {
  const segment = path.split('/')[1] ?? ''
  const tag = TAGS.find(({ paths }) => paths.includes(segment))
  if (!tag) throw new Error(`The API document has no chapter for /${segment}.`)
  return tag.name
}

export const EVENTS_TAG = 'Events'

export const tags: readonly Json[] = [
  ...TAGS.map(({ name, description }) => ({ name, description })),
  { name: EVENTS_TAG, description: 'What arrives at the address of a webhook endpoint.' },
]
