import type { Command } from 'commander'
import { renderPriceList } from '../../../shared/api/catalogue.ts'
import { RecordDate } from '../../../shared/api/schemas.ts'
import {
  type ListedPrice,
  type PriceList,
  priceListProblems,
} from '../../../shared/domain/booking/catalogue.ts'
import { priceListStore, treatmentStore } from '../../../shared/store/catalogue.ts'
import { currencyCode } from '../import/entities/catalogue-fields.ts'
import { readIds } from '../import/entities/catalogue-rows.ts'
import { booleanField } from '../import/entities/row-fields.ts'
import { addYesOption, confirm } from '../tool/confirmation.ts'
import { openClinic } from '../tool/connection.ts'
import { type Fields, fieldsOf, NONE, parseAmountOption } from '../tool/fields.ts'
import { CommandFailure, counted, parseOption, print } from '../tool/output.ts'
import { addCatalogueCommands, type CatalogueCommands, requireEntry } from './catalogue-commands.ts'

type Options = {
  readonly currency?: string
  readonly default?: string
  readonly from?: string
  readonly to?: string
  readonly price?: readonly string[]
  readonly removePrice?: readonly string[]
}

const PERIOD: Fields<PriceList> = {
  validFrom: { flags: '--from <date>', schema: RecordDate, words: NONE },
  validTo: { flags: '--to <date>', schema: RecordDate, words: NONE },
}

const COMMANDS: CatalogueCommands<PriceList, Options, ReturnType<typeof renderPriceList>> = {
  kind: 'price list',
  store: priceListStore,
  addOptions: (command, use) => {
    const orNone = use === 'create' ? '' : '; "" for no limit'
    const options = command
      .option('--default <true|false>', 'whether it is the default, in place of the former one')
      .option('--from <date>', `first day on which its prices apply, YYYY-MM-DD${orNone}`)
      .option('--to <date>', `last day on which its prices apply, YYYY-MM-DD${orNone}`)
      .option('--price <treatment=amount...>', 'prices of treatments, by their ids: "ID=120.50"')
    return use === 'create'
      ? options.option('--currency <code>', "ISO 4217 (default: the clinic's)")
      : options.option('--remove-price <treatment...>', 'treatments that no longer have a price in it')
  },
  apply: (options, before, named, { clinic }) => {
    const currency =
      before?.currency ??
      (options.currency === undefined
        ? clinic.currency
        : parseOption('currency', currencyCode, options.currency.toUpperCase()))
    return {
      validFrom: null,
      validTo: null,
      ...before,
      ...named,
      currency,
      isDefault:
        options.default === undefined
          ? (before?.isDefault ?? false)
          : parseOption('default', booleanField, options.default),
      ...fieldsOf(PERIOD, options),
      items: pricesOf(options, before?.items ?? [], currency),
    }
  },
  problems: async (list, known, { table, clinic }) =>
    priceListProblems(list, known, await readIds(treatmentStore({ table }), clinic)),
  displaced: ({ id, isDefault }, known) =>
    known
      .filter((other) => isDefault && other.isDefault && other.id !== id)
      .map((other) => ({ ...other, isDefault: false })),
  options: { isDefault: 'default', validTo: 'to', items: 'price' },
  toJson: renderPriceList,
  cells: ({ currency, is_default, valid_from, valid_to, items }) => [
    currency,
    counted(items.length, 'price'),
    valid_from || valid_to ? `${valid_from ?? ''}/${valid_to ?? ''}` : '',
    is_default ? 'default' : '',
  ],
}

export function addPriceListCommands(group: Command): void {
  addCatalogueCommands(group, COMMANDS)
  const deletion = group
    .command('delete')
    .description('delete a price list')
    .argument('<price-list>', 'price list id')
    .action(async (id: string, _: object, command: Command) => {
      const { table, clinic } = await openClinic(command)
      const store = priceListStore({ table })
      const list = await requireEntry('price list', await store.list(clinic.id), id)
      const prices = counted(list.items.length, 'price')
      await confirm(command, [`Price list ${list.name} is deleted permanently, with ${prices}.`])
      await store.remove(clinic.id, list)
      print(command, { id: list.id }, [`Deleted price list ${list.name}`])
    })
  addYesOption(deletion)
}

/** The prices after a change: in their order, new ones last. @throws CommandFailure */
function pricesOf(
  { price: given = [], removePrice: removed = [] }: Options,
  before: readonly ListedPrice[],
  currency: string,
): ListedPrice[] {
  const prices = new Map(before.map(({ treatmentId, price }) => [treatmentId, price]))
  for (const id of removed)
    if (!prices.delete(id.toLowerCase()))
      throw new CommandFailure(`--remove-price ${id} has no price in the price list`)
  for (const pair of given) {
    const [id = '', amount = '', ...more] = pair.split('=')
    if (more.length > 0 || amount === '')
      throw new CommandFailure('--price must be a treatment and its price, such as "ID=120.50"')
    prices.set(id.trim().toLowerCase(), parseAmountOption('price', amount, currency))
  }
  return [...prices].map(([treatmentId, price]) => ({ treatmentId, price }))
}
