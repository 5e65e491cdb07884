/** The commands that read patients. */
import { listPatients, renderPatientDetails } from '../../../shared/api/patients.ts'
import { SCOPES } from '../../../shared/domain/scope.ts'
import { patientListStores, readPatientList } from '../../../shared/requests/patient-list.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import { NAME_OR_CONTACT } from '../records/records-of-patients.ts'
import type { ResourceCommands } from '../records/resource-commands.ts'
import { CommandFailure } from '../tool/output.ts'

type Patient = Awaited<ReturnType<typeof readPatientList>>['data'][number]

export const patients: ResourceCommands<Patient> = {
  group: 'patient',
  noun: 'patient',
  plural: 'patients',
  imported: 'patient',
  list: {
    query: listPatients.query,
    read: ({ table, clinic }, query) =>
      readPatientList(patientListStores({ table }), { clinic, query, now: Date.now() }),
  },
  show: async ({ table, clinic }, id) => {
    const patient = await patientStore({ table }).find(clinic.id, id)
    return patient && renderPatientDetails(patient, { clinic, scopes: SCOPES })
  },
  searched: NAME_OR_CONTACT,
  find: async ({ table, clinic }, text) => {
    const { data: query, error } = listPatients.query.safeParse({ search: text })
    if (error) throw new CommandFailure(`The text ${error.issues.map(({ message }) => message).join(', ')}.`)
    const { data, meta } = await readPatientList(patientListStores({ table }), {
      clinic,
      query,
      now: Date.now(),
    })
    const total = 'total' in meta ? meta.total : data.length
    if (total <= data.length) return { data }
    const leftOut = total - data.length
    return { data, leftOut, notes: [`${leftOut} more match. "patient list --search" lists all.`] }
  },
  cells: ({ full_name, date_of_birth, phone_number, email_address, is_active, erased_at }) => [
    full_name,
    date_of_birth ?? '',
    phone_number ?? '',
    email_address ?? '',
    erased_at ? 'erased' : is_active ? 'active' : 'inactive',
  ],
}
