import { renderDepartment } from '../shared/api/catalogue.ts'
import { updateDepartment } from '../shared/api/catalogue-changes.ts'
import { inRecord } from '../shared/api/record-names.ts'
import { updateEntry } from '../shared/requests/catalogue-changes.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { departmentChanges } from '../shared/store/catalogue-changes.ts'

export const handler = endpoint(
  updateDepartment,
  { departments: departmentChanges },
  (input, { departments }) => updateEntry(input, departments, inRecord(input.body), renderDepartment),
)
