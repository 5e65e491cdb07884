import { getClinic, renderClinic } from '../shared/api/clinic.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { clinicStore } from '../shared/store/clinics.ts'

export const handler = endpoint(getClinic, { clinics: clinicStore }, async ({ clinicId }, { clinics }) => {
  const clinic = await clinics.find(clinicId)
  if (!clinic) throw new Error('the clinic of a credential exists')
  return { data: renderClinic(clinic) }
})
