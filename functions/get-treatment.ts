import { getTreatment, renderTreatment } from '../shared/api/catalogue.ts'
import { ApiError } from '../shared/api/errors.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { treatmentStore } from '../shared/store/catalogue.ts'

export const handler = endpoint(
  getTreatment,
  { treatments: treatmentStore },
  async ({ clinicId, path }, { treatments }) => {
    const found = await treatments.find(clinicId, path.id)
    if (!found) throw new ApiError('treatment_not_found')
    return { data: renderTreatment(found) }
  },
)
