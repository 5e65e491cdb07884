import { listDepartments, renderDepartment } from '../shared/api/catalogue.ts'
import { renderListPage } from '../shared/requests/list-page.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { departmentStore } from '../shared/store/catalogue.ts'

export const handler = endpoint(
  listDepartments,
  { departments: departmentStore },
  async ({ clinicId, query }, { departments }) =>
    renderListPage(await departments.list(clinicId), query, renderDepartment),
)
