import { listTreatments, renderTreatment } from '../shared/api/catalogue.ts'
import { renderListPage } from '../shared/requests/list-page.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { treatmentStore } from '../shared/store/catalogue.ts'

export const handler = endpoint(
  listTreatments,
  { treatments: treatmentStore },
  async ({ clinicId, query }, { treatments }) =>
    renderListPage(await treatments.list(clinicId), query, renderTreatment),
)
