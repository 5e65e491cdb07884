import { listDoctors, renderDoctor } from '../shared/api/doctors.ts'
import { renderListPage } from '../shared/requests/list-page.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { doctorStore } from '../shared/store/doctors.ts'

export const handler = endpoint(
  listDoctors,
  { doctors: doctorStore },
  async ({ clinicId, credential, query }, { doctors }) =>
    renderListPage(await doctors.list(clinicId), query, (doctor) => renderDoctor(doctor, credential)),
)
