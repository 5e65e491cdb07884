import { listDoctors, renderDoctor } from '../shared/api/doctors.ts'
import { renderPage } from '../shared/api/schemas.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { doctorStore } from '../shared/store/doctors.ts'

export const handler = endpoint(
  listDoctors,
  { doctors: doctorStore },
  async ({ clinicId, clinic, query }, { doctors }) =>
    renderPage(await doctors.page(clinicId, query), query, (doctor) => renderDoctor(doctor, clinic)),
)
