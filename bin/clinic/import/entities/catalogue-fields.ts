/** The fields of departments, rooms, treatments and price lists, as import files and options of commands have them. */
import * as z from 'zod'
import { MAX_DURATION, MIN_DURATION } from '../../../../shared/domain/booking/placement.ts'
import { CURRENCIES } from '../../../../shared/domain/money/currencies.ts'
import { multiLineText, singleLineText } from '../../../../shared/domain/patients/text-fields.ts'

export const catalogueName = singleLineText(100)

export const treatmentCode = singleLineText(50)

export const treatmentDescription = multiLineText(500)

const RANGE = `must be a whole number of minutes from ${MIN_DURATION} to ${MAX_DURATION}`

export const treatmentMinutes = z
  .union(
    [
      z.number(),
      z
        .string()
        .regex(/^\d{1,3}$/)
        .transform(Number),
    ],
    { error: RANGE },
  )
  .refine((minutes) => Number.isInteger(minutes) && minutes >= MIN_DURATION && minutes <= MAX_DURATION, {
    error: RANGE,
  })

export const currencyCode = z.enum(CURRENCIES, { error: 'must be an ISO 4217 code such as EUR' })
