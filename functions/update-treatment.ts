import { renderTreatment } from '../shared/api/catalogue.ts'
import { treatmentValues, updateTreatment } from '../shared/api/catalogue-changes.ts'
import { updateEntry } from '../shared/requests/catalogue-changes.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { treatmentChanges } from '../shared/store/catalogue-changes.ts'

export const handler = endpoint(updateTreatment, { treatments: treatmentChanges }, (input, { treatments }) =>
  updateEntry(input, treatments, treatmentValues(input.body), renderTreatment),
)
