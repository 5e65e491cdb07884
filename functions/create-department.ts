import { renderDepartment } from '../shared/api/catalogue.ts'
import { createDepartment } from '../shared/api/catalogue-changes.ts'
import { inRecord } from '../shared/api/record-names.ts'
import { createEntry } from '../shared/requests/catalogue-changes.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { departmentChanges } from '../shared/store/catalogue-changes.ts'

export const handler = endpoint(
  createDepartment,
  { departments: departmentChanges },
  (input, { departments }) => createEntry(input, departments, inRecord(input.body), renderDepartment),
)
