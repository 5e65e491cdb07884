import { getPriceList, renderPriceList } from '../shared/api/catalogue.ts'
import { ApiError } from '../shared/api/errors.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { priceListStore } from '../shared/store/catalogue.ts'

export const handler = endpoint(
  getPriceList,
  { priceLists: priceListStore },
  async ({ clinicId, path }, { priceLists }) => {
    const found = await priceLists.find(clinicId, path.id)
    if (!found) throw new ApiError('price_list_not_found')
    return { data: renderPriceList(found) }
  },
)
