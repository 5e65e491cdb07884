import { renderTreatment } from '../shared/api/catalogue.ts'
import { createTreatment, treatmentValues } from '../shared/api/catalogue-changes.ts'
import { createEntry } from '../shared/requests/catalogue-changes.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { treatmentChanges } from '../shared/store/catalogue-changes.ts'

export const handler = endpoint(createTreatment, { treatments: treatmentChanges }, (input, { treatments }) =>
  createEntry(input, treatments, treatmentValues(input.body), renderTreatment),
)
