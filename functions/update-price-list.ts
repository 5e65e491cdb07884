import { renderPriceList } from '../shared/api/catalogue.ts'
import { priceListValues, updatePriceList } from '../shared/api/catalogue-changes.ts'
import { updateEntry } from '../shared/requests/catalogue-changes.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { priceListChanges } from '../shared/store/catalogue-changes.ts'

export const handler = endpoint(updatePriceList, { priceLists: priceListChanges }, (input, { priceLists }) =>
  updateEntry(input, priceLists, priceListValues(input.body), renderPriceList),
)
