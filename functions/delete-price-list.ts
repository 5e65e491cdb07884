import { renderPriceList } from '../shared/api/catalogue.ts'
import { deletePriceList } from '../shared/api/catalogue-changes.ts'
import { ApiError } from '../shared/api/errors.ts'
import type { PriceList } from '../shared/domain/booking/catalogue.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { priceListChanges } from '../shared/store/catalogue-changes.ts'

export const handler = endpoint(
  deletePriceList,
  { priceLists: priceListChanges },
  async ({ clinicId, path, write }, { priceLists }) => {
    const requested = write((list: PriceList) => ({ data: renderPriceList(list) }))
    const isDeleted = await priceLists.remove(clinicId, path.id, requested, ({ isDefault }) => {
      if (isDefault) throw new ApiError('price_list_is_default')
    })
    return isDeleted ? undefined : null
  },
)
