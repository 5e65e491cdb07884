import { createHash } from 'node:crypto'
import type { ClinicId } from '../../domain/clinic.ts'
import { type Key, partition, shortId } from './key.ts'

/** The code of the entity of each calendar list (calendar-list.ts). */
export const ENTITY_CODES = ['A', 'I', 'Y', 'M'] as const
export type EntityCode = (typeof ENTITY_CODES)[number]

/** Records by id. */
export const calendarPartition = (clinic: ClinicId, entityCode: EntityCode): string =>
  partition(clinic, entityCode)

export const calendarKey = (clinic: ClinicId, entityCode: EntityCode, id: string): Key => ({
  pk: calendarPartition(clinic, entityCode),
  sk: id,
})

/** Rows by facet and time: of the whole clinic, or of one doctor. */
export const calendarListPartition = (
  clinic: ClinicId,
  entityCode: EntityCode,
  doctor: string | null,
): string => partition(clinic, doctor === null ? `${entityCode}L` : `${entityCode}D#${shortId(doctor)}`)

/** Day counts of the same, an item for each month. */
export const tallyPartition = (clinic: ClinicId, entityCode: EntityCode, doctor: string | null): string =>
  partition(clinic, doctor === null ? `${entityCode}T` : `${entityCode}T#${shortId(doctor)}`)

/** A month's counters. */
export const tallyKey = (pk: string, month: string): Key => ({ pk, sk: month })

/** Rows by time: of one patient, or of one invoice's payments. */
export const ownerPartition = (
  clinic: ClinicId,
  entityCode: EntityCode,
  owner: 'patient' | 'invoice',
  id: string,
): string => partition(clinic, `${entityCode}${owner === 'patient' ? 'P' : 'I'}#${shortId(id)}`)

/**
 * The ids of the invoices with a number, in items without attributes. Several invoices can have one number. It can be any text, and
 * an erasure removes it from the table, but not from what has recorded keys, such as the stream.
 */
export const invoiceNumberPartition = (clinic: ClinicId, number: string): string =>
  partition(clinic, `IN#${numberDigest(clinic, number)}`)

const numberDigest = (clinic: ClinicId, number: string): string =>
  createHash('sha256').update(`${clinic} ${number}`).digest('base64url')

export const invoiceNumberKey = (clinic: ClinicId, number: string, id: string): Key => ({
  pk: invoiceNumberPartition(clinic, number),
  sk: id,
})

/** The items with which invoices take their numbers, so that no other invoice gets the same at the same time. */
export const takenNumbersPartition = (clinic: ClinicId): string => partition(clinic, 'IX')

export const takenNumberKey = (clinic: ClinicId, number: string): Key => ({
  pk: takenNumbersPartition(clinic),
  sk: numberDigest(clinic, number),
})

/** The next number of a year's invoices. */
export const invoiceCountersPartition = (clinic: ClinicId): string => partition(clinic, 'IC')

export const invoiceCounterKey = (clinic: ClinicId, year: string): Key => ({
  pk: invoiceCountersPartition(clinic),
  sk: year,
})

/** The position of a record in time: its day, its moment in the day, its id. */
export const calendarSortKey = (date: string, moment: string, id: string): string =>
  `${date}#${moment}#${shortId(id)}`

/** The sort key in a list that is sorted by facet first. */
export const facetSortKey = (facet: string, sort: string): string => `${facet}#${sort}`

/** Sorts after every sort key of a day. */
export const dayEnd = (date: string): string => `${date}#~`

/** The busy times of a doctor on a date. */
export const doctorDayPartition = (clinic: ClinicId, doctor: string): string =>
  partition(clinic, `D#${shortId(doctor)}`)

export const doctorDayKey = (clinic: ClinicId, doctor: string, date: string): Key => ({
  pk: doctorDayPartition(clinic, doctor),
  sk: date,
})

/** The busy times of a room on a date. */
export const roomDayPartition = (clinic: ClinicId, room: string): string =>
  partition(clinic, `RD#${shortId(room)}`)

export const roomDayKey = (clinic: ClinicId, room: string, date: string): Key => ({
  pk: roomDayPartition(clinic, room),
  sk: date,
})

/** Holds by id, and the lists of the holds of each credential. */
export const holdsPartition = (clinic: ClinicId): string => partition(clinic, 'H')

export const holdKey = (clinic: ClinicId, id: string): Key => ({ pk: holdsPartition(clinic), sk: id })

const HOLD_LIST_PREFIX = 'of#'

export const holdListKey = (clinic: ClinicId, credential: string): Key => ({
  pk: holdsPartition(clinic),
  sk: `${HOLD_LIST_PREFIX}${credential}`,
})

export const isHoldList = ({ sk }: Pick<Key, 'sk'>): boolean => sk.startsWith(HOLD_LIST_PREFIX)
