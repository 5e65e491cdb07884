import { listPriceLists, renderPriceList } from '../shared/api/catalogue.ts'
import { renderPage } from '../shared/api/schemas.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { priceListStore } from '../shared/store/catalogue.ts'

export const handler = endpoint(
  listPriceLists,
  { priceLists: priceListStore },
  async ({ clinicId, query }, { priceLists }) =>
    renderPage(await priceLists.page(clinicId, query), query, renderPriceList),
)
