import type { Command } from 'commander'
import { renderTreatment } from '../../../shared/api/catalogue.ts'
import { type Treatment, treatmentProblems } from '../../../shared/domain/booking/catalogue.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { treatmentStore } from '../../../shared/store/catalogue.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import {
  currencyCode,
  durationMinutes,
  treatmentCode,
  treatmentDescription,
} from '../import/entities/catalogue-fields.ts'
import { readIds } from '../import/entities/catalogue-rows.ts'
import { formatAmount } from '../records/record-text.ts'
import { type Fields, fieldsOf, NONE, parseAmountOption } from '../tool/fields.ts'
import { CommandFailure, counted, parseOption } from '../tool/output.ts'
import {
  activeAfter,
  addActivation,
  addCatalogueCommands,
  type CatalogueCommands,
} from './catalogue-commands.ts'

type Options = {
  readonly code?: string
  readonly description?: string
  readonly duration?: string
  readonly price?: string
  readonly currency?: string
  readonly doctors?: string
  readonly active?: boolean
}

const TEXTS: Fields<Treatment> = {
  code: { flags: '--code <code>', schema: treatmentCode, words: NONE },
  description: { flags: '--description <text>', schema: treatmentDescription, words: NONE },
}

const COMMANDS: CatalogueCommands<Treatment, Options, ReturnType<typeof renderTreatment>> = {
  kind: 'treatment',
  store: treatmentStore,
  addOptions: (command, use) => {
    const orNone = use === 'create' ? '' : '; "" for none'
    const isRequired = use === 'create'
    return addActivation(command, use)
      .addOption(command.createOption('--duration <minutes>').makeOptionMandatory(isRequired))
      .addOption(command.createOption('--price <amount>', 'e.g. 120.50').makeOptionMandatory(isRequired))
      .option('--currency <code>', "ISO 4217 (default: the clinic's)")
      .option('--code <code>', `the clinic's own code${orNone}`)
      .option('--description <text>', `at most 500 characters${orNone}`)
      .option('--doctors <ids>', `the doctors who offer it, separated by commas${orNone}`)
  },
  apply: (options, before, named, { clinic }) => ({
    code: null,
    description: null,
    doctorIds: [],
    ...before,
    ...named,
    isActive: activeAfter(options, before),
    minutes:
      options.duration === undefined && before
        ? before.minutes
        : parseOption('duration', durationMinutes, options.duration),
    ...priceOf(options, before, clinic),
    ...fieldsOf(TEXTS, options),
    ...(options.doctors !== undefined && { doctorIds: idsOf(options.doctors) }),
  }),
  problems: async (treatment, known, { table, clinic }) =>
    treatmentProblems(treatment, known, await readIds(doctorStore({ table }), clinic)),
  options: { doctorIds: 'doctors' },
  toJson: renderTreatment,
  isNeededFor: (id, { treatments }) => treatments.some((treatment) => treatment.id === id),
  cells: ({ code, duration_minutes, price, currency, doctor_ids, is_active }) => [
    code ?? '',
    `${duration_minutes} min`,
    `${formatAmount(price, currency)} ${currency}`,
    counted(doctor_ids.length, 'doctor'),
    is_active ? 'active' : 'inactive',
  ],
}

export const addTreatmentCommands = (group: Command): void => addCatalogueCommands(group, COMMANDS)

/** The price and its currency, as given or as before. @throws CommandFailure */
function priceOf(
  { price, currency: given }: Options,
  before: Treatment | null,
  clinic: Clinic,
): Pick<Treatment, 'price' | 'currency'> {
  const present = before?.currency ?? clinic.currency
  const currency = given === undefined ? present : parseOption('currency', currencyCode, given.toUpperCase())
  if (price !== undefined) return { currency, price: parseAmountOption('price', price, currency) }
  if (before && currency === before.currency) return { currency, price: before.price }
  throw new CommandFailure('--currency needs --price, in the new currency')
}

const idsOf = (list: string): string[] =>
  list
    .split(',')
    .map((id) => id.trim().toLowerCase())
    .filter((id) => id !== '')
