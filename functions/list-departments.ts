import { listDepartments, renderDepartment } from '../shared/api/catalogue.ts'
import { renderPage } from '../shared/api/schemas.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { departmentStore } from '../shared/store/catalogue.ts'

export const handler = endpoint(
  listDepartments,
  { departments: departmentStore },
  async ({ clinicId, query }, { departments }) =>
    renderPage(await departments.page(clinicId, query), query, renderDepartment),
)
