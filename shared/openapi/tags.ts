import type { Route } from '../api/route.ts'
import type { Json } from './schemas.ts'

type Tag = { readonly name: string; readonly description: string; readonly paths: readonly string[] }

/** The tags of the document, each with the first path segment, or the first two, of its endpoints. */
const TAGS: readonly Tag[] = [
  {
    name: 'Account',
    description: 'The credential of the request, and its clinic.',
    paths: ['me', 'health', 'clinic'],
  },
  {
    name: 'Catalogue',
    description: "The clinic's holidays, departments, rooms, treatments and price lists.",
    paths: [
      'clinic/holidays',
      'clinic/departments',
      'clinic/rooms',
      'clinic/treatments',
      'clinic/price-lists',
    ],
  },
  { name: 'Patients', description: 'Create, retrieve, list and search patients.', paths: ['patients'] },
  {
    name: 'Appointments',
    description: 'Doctors, their times, free slots, holds and appointments.',
    paths: ['doctors', 'availability', 'holds', 'appointments'],
  },
  { name: 'Finance', description: 'Invoices and payments.', paths: ['invoices', 'payments'] },
  {
    name: 'Messages',
    description: 'SMS and emails to patients, and the communication log.',
    paths: ['messages'],
  },
  {
    name: "Clinic's own system",
    description: 'Records that the system of the clinic pushes as they change.',
    paths: ['sync'],
  },
  {
    name: 'Webhooks',
    description: 'Webhook endpoints, their deliveries and the event log.',
    paths: ['webhooks', 'events'],
  },
]

/** The tag of a route. @throws Error for a path whose first segment belongs to no tag */
export function tagOf({ path }: Pick<Route, 'path'>): string {
  const [, first = '', second = ''] = path.split('/')
  const tagWith = (start: string) => TAGS.find(({ paths }) => paths.includes(start))
  const tag = tagWith(`${first}/${second}`) ?? tagWith(first)
  if (!tag) throw new Error(`No tag lists the path segment /${first}: add it to shared/openapi/tags.ts.`)
  return tag.name
}

export const EVENTS_TAG = 'Events'

export const tags: readonly Json[] = [
  ...TAGS.map(({ name, description }) => ({ name, description })),
  { name: EVENTS_TAG, description: 'The events that are delivered to webhook endpoints.' },
]
