import type { Command } from 'commander'
import { renderTreatment } from '../../../shared/api/catalogue.ts'
import type { Treatment } from '../../../shared/domain/booking/catalogue.ts'
import { treatmentStore } from '../../../shared/store/catalogue.ts'
import { treatmentChanges } from '../../../shared/store/catalogue-changes.ts'
import { durationMinutes, treatmentCode, treatmentDescription } from '../import/entities/catalogue-fields.ts'
import { formatAmount } from '../records/record-text.ts'
import { type Fields, fieldsOf, NONE } from '../tool/fields.ts'
import { counted } from '../tool/output.ts'
import { addActivation, addCatalogueCommands, CURRENCY } from './catalogue-commands.ts'

type Options = {
  readonly name?: string
  readonly price?: string
  readonly doctors?: string
  readonly active?: boolean
}

const FIELDS: Fields<Treatment> = {
  minutes: { flags: '--duration <minutes>', schema: durationMinutes },
  currency: CURRENCY,
  code: { flags: '--code <code>', schema: treatmentCode, words: NONE },
  description: { flags: '--description <text>', schema: treatmentDescription, words: NONE },
}

export const addTreatmentCommands = (group: Command): void =>
  addCatalogueCommands(group, {
    kind: 'treatment',
    store: treatmentStore,
    changes: treatmentChanges,
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
    values: (options: Options) => ({
      name: options.name,
      isActive: options.active,
      price: options.price?.trim(),
      ...fieldsOf(FIELDS, options),
      doctorIds: options.doctors === undefined ? undefined : idsOf(options.doctors),
    }),
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
  })

const idsOf = (list: string): string[] =>
  list
    .split(',')
    .map((id) => id.trim().toLowerCase())
    .filter((id) => id !== '')
