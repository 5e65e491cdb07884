import { getTreatment, renderTreatment } from '../shared/api/catalogue.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { treatmentStore } from '../shared/store/catalogue.ts'

export const handler = endpoint(
  getTreatment,
  { treatments: treatmentStore },
  async ({ clinicId, path }, { treatments }) => {
    const found = await treatments.find(clinicId, path.id)
    return found && { data: renderTreatment(found) }
  },
)
