import type { Command } from 'commander'
import { renderPriceList } from '../../../shared/api/catalogue.ts'
import { RecordDate } from '../../../shared/api/schemas.ts'
import type { PriceList } from '../../../shared/domain/booking/catalogue.ts'
import { renderMoney } from '../../../shared/domain/money/money.ts'
import { priceListStore } from '../../../shared/store/catalogue.ts'
import { priceListChanges } from '../../../shared/store/catalogue-changes.ts'
import { booleanField } from '../import/entities/row-fields.ts'
import { addYesOption, confirm } from '../tool/confirmation.ts'
import { openClinic } from '../tool/connection.ts'
import { type Fields, fieldsOf, NONE } from '../tool/fields.ts'
import { CommandFailure, counted, print } from '../tool/output.ts'
import { addCatalogueCommands, CURRENCY, requireEntry } from './catalogue-commands.ts'

type Options = {
  readonly name?: string
  readonly price?: readonly string[]
  readonly removePrice?: readonly string[]
}

const FIELDS: Fields<PriceList> = {
  currency: CURRENCY,
  isDefault: { flags: '--default <true|false>', schema: booleanField },
  validFrom: { flags: '--from <date>', schema: RecordDate, words: NONE },
  validTo: { flags: '--to <date>', schema: RecordDate, words: NONE },
}

export function addPriceListCommands(group: Command): void {
  addCatalogueCommands(group, {
    kind: 'price list',
    store: priceListStore,
    changes: priceListChanges,
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
    values: (options: Options, before) => ({
      name: options.name,
      ...fieldsOf(FIELDS, options),
      items: options.price || options.removePrice ? pricesOf(options, before) : undefined,
    }),
    options: { isDefault: 'default', validTo: 'to', items: 'price' },
    toJson: renderPriceList,
    cells: ({ currency, is_default, valid_from, valid_to, items }) => [
      currency,
      counted(items.length, 'price'),
      valid_from || valid_to ? `${valid_from ?? ''}/${valid_to ?? ''}` : '',
      is_default ? 'default' : '',
    ],
  })
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

/** The prices after a change, in units: in their order, new ones last. @throws CommandFailure */
function pricesOf({ price: given = [], removePrice: removed = [] }: Options, before: PriceList | null) {
  const present = before?.items ?? []
  const prices = new Map<string, number | string>(
    present.map(({ treatmentId, price }) => [treatmentId, renderMoney(price, before?.currency ?? '')]),
  )
  for (const id of removed)
    if (!prices.delete(id.toLowerCase()))
      throw new CommandFailure(`--remove-price ${id} has no price in the price list`)
  for (const pair of given) {
    const [id = '', amount = '', ...more] = pair.split('=')
    if (more.length > 0 || amount === '')
      throw new CommandFailure('--price must be a treatment and its price, such as "ID=120.50"')
    prices.set(id.trim().toLowerCase(), amount.trim())
  }
  return [...prices].map(([treatmentId, price]) => ({ treatmentId, price }))
}
