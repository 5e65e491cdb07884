import { renderPriceList } from '../shared/api/catalogue.ts'
import { createPriceList, priceListValues } from '../shared/api/catalogue-changes.ts'
import { createEntry } from '../shared/requests/catalogue-changes.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { priceListChanges } from '../shared/store/catalogue-changes.ts'

export const handler = endpoint(createPriceList, { priceLists: priceListChanges }, (input, { priceLists }) =>
  createEntry(input, priceLists, priceListValues(input.body), renderPriceList),
)
