import { getDepartment, renderDepartment } from '../shared/api/catalogue.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { departmentStore } from '../shared/store/catalogue.ts'

export const handler = endpoint(
  getDepartment,
  { departments: departmentStore },
  async ({ clinicId, path }, { departments }) => {
    const found = await departments.find(clinicId, path.id)
    return found && { data: renderDepartment(found) }
  },
)
