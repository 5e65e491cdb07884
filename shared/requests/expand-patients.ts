import { renderPatient } from '../api/patients.ts'
import type { ClinicInfo } from '../domain/clinic.ts'
import type { patientStore } from '../store/patients/patients.ts'

type Request = { readonly clinic: ClinicInfo; readonly query: { readonly expand?: 'patient' | undefined } }

type OfPatient = { readonly patient: { readonly id: string } }

type Patients = ReturnType<typeof patientStore>

/** Adds to the patient of each rendered record what lists of patients show, if the query asks for it. */
export async function expandPatients<W extends OfPatient>(
  patients: Patients,
  { clinic, query }: Request,
  records: readonly W[],
): Promise<W[]> {
  if (query.expand === undefined) return [...records]
  const ids = new Set(records.map(({ patient }) => patient.id))
  const found = await patients.findMany(clinic.id, [...ids])
  return records.map((record) => {
    const patient = found.get(record.patient.id)
    return patient ? { ...record, patient: { ...record.patient, ...renderPatient(patient, clinic) } } : record
  })
}

/** Does the same for one record. */
export async function expandPatient<W extends OfPatient>(
  patients: Patients,
  request: Request,
  record: W,
): Promise<W> {
  const [expanded = record] = await expandPatients(patients, request, [record])
  return expanded
}
