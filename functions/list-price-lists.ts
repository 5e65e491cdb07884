import { listPriceLists, renderPriceList } from '../shared/api/catalogue.ts'
import { renderListPage } from '../shared/requests/list-page.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { priceListStore } from '../shared/store/catalogue.ts'

export const handler = endpoint(
  listPriceLists,
  { priceLists: priceListStore },
  async ({ clinicId, query }, { priceLists }) =>
    renderListPage(await priceLists.list(clinicId), query, renderPriceList),
)
