/** Converts the text of another system into the text of a field. */
import { internationalNumber } from '../../../../shared/domain/patients/phone-number.ts'
import { dateOf, hasFormat, readAmount, readInstant, readTime, timeOf } from './value-formats.ts'

export type ConversionFormats = {
  readonly dates: readonly string[]
  readonly times: readonly string[]
  /** The time zone of times without an offset. */
  readonly timezone: string
  readonly decimal: 'comma' | 'point' | undefined
  /** The country of phone numbers without a country code. */
  readonly country: string | undefined
}

type Converted = { readonly value: unknown } | { readonly problem: string }

const AMOUNTS = new Set(['price', 'amount', 'subtotal', 'tax_amount', 'discount_amount', 'total_amount'])

const isDateField = (field: string): boolean => /_date$|^date_of_birth$|^valid_(from|to)$/.test(field)

/** Converts a value, or a part of it. A value in the form that imports require anyway needs no conversion. */
export function convertField(
  field: string,
  value: unknown,
  part: 'date' | 'time' | 'first_names' | 'last_name' | undefined,
  formats: ConversionFormats,
  row: ReadonlyMap<string, unknown>,
): Converted {
  if (typeof value !== 'string') return { value }
  const { dates, times, timezone, decimal, country } = formats
  if (part === 'first_names') return { value: value.trim().replace(/\s+\S+$/, '') }
  if (part === 'last_name') return { value: value.trim().split(/\s+/).at(-1) }
  if (part === 'date' || (isDateField(field) && dates.length > 0))
    return converted(
      dateOf(value, formats),
      hasFormat(value, dates)
        ? 'is not a date that exists'
        : `is not ${either(dates, 'YYYY-MM-DD')}, as the map says`,
    )
  if (part === 'time') return converted(timeOf(value, formats), `has no time ${either(times, 'HH:mm')}`)
  if (field.endsWith('_time') && times.length > 0)
    return converted(readTime(value, times), `is not ${either(times, 'HH:mm')}, as the map says`)
  if (field.endsWith('_at') && dates.length > 0 && !isTimestamp(value))
    return converted(
      readInstant(value, formats, timezone),
      `is not ${either(dates, 'YYYY-MM-DD')}, with or without a time ${either(times, 'HH:mm')}, as the map says`,
    )
  if (AMOUNTS.has(field) && decimal !== undefined)
    return converted(
      readAmount(value, decimal),
      `is not a number such as ${decimal === 'comma' ? '1.234,50' : '1,234.50'}, as the map says`,
    )
  if (isPhone(field, row) && country !== undefined)
    return converted(
      internationalNumber(value, country),
      `is neither a phone number of ${country} nor one with a country code`,
    )
  return { value }
}

const converted = (value: string | null, problem: string): Converted =>
  value === null ? { problem } : { value }

const either = (formats: readonly string[], iso: string): string =>
  [...new Set([...formats, iso])].join(' or ')

/** Whether it has an offset already. */
const isTimestamp = (text: string): boolean => /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text)

const isPhone = (field: string, row: ReadonlyMap<string, unknown>): boolean =>
  field === 'phone_number' || (field === 'recipient' && row.get('channel') === 'sms')
