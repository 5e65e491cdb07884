import { listTreatments, renderTreatment } from '../shared/api/catalogue.ts'
import { renderPage } from '../shared/api/schemas.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { treatmentStore } from '../shared/store/catalogue.ts'

export const handler = endpoint(
  listTreatments,
  { treatments: treatmentStore },
  async ({ clinicId, query }, { treatments }) =>
    renderPage(await treatments.page(clinicId, query), query, renderTreatment),
)
