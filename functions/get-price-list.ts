import { getPriceList, renderPriceList } from '../shared/api/catalogue.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { priceListStore } from '../shared/store/catalogue.ts'

export const handler = endpoint(
  getPriceList,
  { priceLists: priceListStore },
  async ({ clinicId, path }, { priceLists }) => {
    const found = await priceLists.find(clinicId, path.id)
    return found && { data: renderPriceList(found) }
  },
)
