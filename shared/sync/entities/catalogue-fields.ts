/** The fields of departments, rooms, treatments and price lists, as import files and options of commands have them. */
import * as z from 'zod'
import { DurationMinutes } from '../../api/availability.ts'
import { CURRENCIES } from '../../domain/money/currencies.ts'

export const durationMinutes = z.preprocess(
  (value) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value),
  DurationMinutes,
)

export const currencyCode = z.enum(CURRENCIES, { error: 'must be an ISO 4217 code such as EUR' })
