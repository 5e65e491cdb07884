/** How the records of a clinic's catalogue are stored. */
import type { Department, ListedPrice, PriceList, Room, Treatment } from '../domain/booking/catalogue.ts'
import type { ClinicId } from '../domain/clinic.ts'
import { type ClinicPart, type EventDraft, treatmentEventDraft } from '../domain/webhooks/event.ts'
import {
  departmentKey,
  departmentsPartition,
  priceListKey,
  priceListsPartition,
  roomKey,
  roomsPartition,
  treatmentKey,
  treatmentsPartition,
} from './keys/catalogue.ts'
import type { Key } from './keys/key.ts'
import {
  type AttributeMap,
  type Attributes,
  amount,
  codec,
  flag,
  list,
  nullable,
  number,
  recordCodec,
  text,
  texts,
} from './table/attributes.ts'
import { amountCodec } from './table/stored-amounts.ts'

/** One kind of record: its partition of each clinic, and its attributes. */
export type EntryKind<Entry> = {
  readonly partitionOf: (clinic: ClinicId) => string
  readonly keyOf: (clinic: ClinicId, id: string) => Key
  readonly encode: (entry: Entry) => Attributes
  /** @throws TypeError or RangeError for an item that is not as it was encoded */
  readonly decode: (item: Attributes, id: string) => Entry
  /** The event of a record that differs from the stored one, or the part of the clinic that its records are. */
  readonly announced: ClinicPart | ((before: Entry | null, after: Entry) => EventDraft)
}

const DEPARTMENT_ATTRIBUTES = {
  name: text('n'),
  isActive: flag('act'),
} satisfies AttributeMap<Omit<Department, 'id'>>

const ROOM_ATTRIBUTES = {
  name: text('n'),
  departmentId: nullable(text('dep')),
  isActive: flag('act'),
} satisfies AttributeMap<Omit<Room, 'id'>>

const TREATMENT_ATTRIBUTES = {
  name: text('n'),
  code: nullable(text('co')),
  description: nullable(text('de')),
  minutes: number('min'),
  price: amount('pr'),
  currency: text('cur'),
  doctorIds: texts('dr'),
  isActive: flag('act'),
} satisfies AttributeMap<Omit<Treatment, 'id'>>

const LISTED_PRICE_ATTRIBUTES = {
  treatmentId: text('t'),
  price: amount('p'),
} satisfies AttributeMap<ListedPrice>

const PRICE_LIST_ATTRIBUTES = {
  name: text('n'),
  currency: text('cur'),
  isDefault: flag('def'),
  validFrom: nullable(text('from')),
  validTo: nullable(text('to')),
  items: list('it', codec<ListedPrice>(LISTED_PRICE_ATTRIBUTES)),
} satisfies AttributeMap<Omit<PriceList, 'id'>>

export const DEPARTMENTS: EntryKind<Department> = {
  ...recordCodec<Department>(DEPARTMENT_ATTRIBUTES),
  partitionOf: departmentsPartition,
  keyOf: departmentKey,
  announced: 'departments',
}

export const ROOMS: EntryKind<Room> = {
  ...recordCodec<Room>(ROOM_ATTRIBUTES),
  partitionOf: roomsPartition,
  keyOf: roomKey,
  announced: 'rooms',
}

export const TREATMENTS: EntryKind<Treatment> = {
  ...amountCodec<Treatment>(TREATMENT_ATTRIBUTES),
  partitionOf: treatmentsPartition,
  keyOf: treatmentKey,
  announced: treatmentEventDraft,
}

export const PRICE_LISTS: EntryKind<PriceList> = {
  ...amountCodec<PriceList>(PRICE_LIST_ATTRIBUTES),
  partitionOf: priceListsPartition,
  keyOf: priceListKey,
  announced: 'price_lists',
}
