/** Operations on patients: created, listed, found, renamed and erased. */
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { patientChanges } from '../../../shared/store/copies/patient-changes.ts'
import { identified, isErased, type PatientModel } from '../model.ts'
import { demand, Register } from '../register.ts'
import { command, pick, type Run, read, submit } from '../run.ts'
import { mayCancel } from './calendar.ts'

export function newPatient(token: string, facts: Partial<PatientModel> = {}): PatientModel {
  return {
    token,
    isFirst: false,
    id: null,
    existence: 'possible',
    lastName: new Register(token),
    erasure: 'none',
    phone: null,
    email: null,
    ...facts,
  }
}

export async function createPatient(run: Run): Promise<void> {
  const { clinic, operation } = run
  const token = `t${operation.number}${clinic.suffix}`
  const [withPhone = 0, withEmail = 0] = operation.random
  const phone = withPhone < 0.8 ? clinic.phone(operation.number) : null
  const email = withEmail < 0.8 ? `${token}@example.com` : null
  const patient = newPatient(token, { phone, email })
  clinic.patients.push(patient)
  const body = { first_name: 'Ada', last_name: token, phone_number: phone, email_address: email }
  const outcome = await submit(run, 'create-patient', { body })
  if (outcome.kind === 'done') {
    patient.id = outcome.body.data.id
    patient.existence = 'certain'
    demand(outcome.body.data.last_name === token, () => `created as ${outcome.body.data.last_name}`)
  } else if (outcome.kind === 'rejected') {
    patient.existence = 'none'
    demand(false, () => `a valid patient was rejected: ${outcome.status} ${JSON.stringify(outcome.body)}`)
  }
}

export async function listPatients(run: Run): Promise<void> {
  const { clinic } = run
  const committed = identified(clinic.patients)
  const response = await read(run, 'list-patients', { query: { limit: '100' } })
  if (!response) return
  const { data, meta } = response.body
  const ids: string[] = data.map(({ id }: { id: string }) => id)
  demand(new Set(ids).size === ids.length, () => 'a page of patients has one twice')
  demand(meta.total >= committed.length, () => `total ${meta.total} of ${committed.length} patients`)
  demand(
    meta.total <= clinic.patients.length,
    () => `total ${meta.total}, at most ${clinic.patients.length} exist`,
  )
  const missing = committed.find(({ id }) => meta.total <= 100 && !ids.includes(id))
  demand(!missing, () => `patient ${missing?.token} is missing from its list`)
}

export async function searchPatient(run: Run): Promise<void> {
  const { clinic, operation } = run
  const patient = pick(
    identified(clinic.patients).filter((one) => one.lastName.isUntouched && !isErased(one)),
    operation.random[0],
  )
  if (!patient) return
  const response = await read(run, 'list-patients', { query: { search: patient.token } })
  if (!response || isErased(patient) || !patient.lastName.isUntouched) return
  const found = response.body.data.map(({ id }: { id: string }) => id)
  demand(
    found.length === 1 && found[0] === patient.id,
    () => `search of ${patient.token} found ${found.length}`,
  )
}

/** Reads a patient of the clinic, which must be found, or of the other, which must not. */
export async function readPatient(run: Run): Promise<void> {
  const { clinic, other, operation } = run
  const isForeign = (operation.random[1] ?? 0) < 0.3
  const patient = pick(identified((isForeign ? other : clinic).patients), operation.random[0])
  if (!patient) return
  const possible = patient.lastName.possible()
  const response = await read(run, 'get-patient', { path: { id: patient.id } })
  if (!response) return
  demand(response.status === (isForeign ? 404 : 200), () => `GET of a patient returned ${response.status}`)
  if (isForeign || isErased(patient)) return
  const name = response.body.data.last_name
  const names = new Set([...possible, ...patient.lastName.possible()])
  demand(names.has(name), () => `patient ${patient.token} is called ${name}`)
}

export async function renamePatient(run: Run): Promise<void> {
  const { clinic, operation } = run
  const patient = pick(identified(clinic.patients), operation.random[0])
  if (!patient) return
  const lastName = `r${operation.number}${clinic.suffix}`
  const write = patient.lastName.begin(lastName)
  const wasErased = patient.erasure === 'certain'
  const outcome = await command(run, (table) =>
    patientChanges(table).update(clinic.id as ClinicId, patient.id, { lastName }),
  )
  if (outcome.kind !== 'done') return
  const isRenamed = outcome.result !== null
  demand(isRenamed || isErased(patient), () => `patient ${patient.token} was not found for a new name`)
  demand(!isRenamed || !wasErased, () => 'an erased patient was renamed')
  patient.lastName.settle(write, isRenamed ? 'certain' : 'none')
}

export async function erasePatient(run: Run): Promise<void> {
  const { clinic, operation } = run
  const patient = pick(identified(clinic.patients), operation.random[0])
  if (!patient) return
  if (patient.erasure === 'none') patient.erasure = 'possible'
  for (const booking of clinic.bookings) if (booking.patient === patient) mayCancel(booking)
  const outcome = await command(run, (table) =>
    patientChanges(table).erase(clinic.id as ClinicId, patient.id),
  )
  if (outcome.kind !== 'done') return
  demand(outcome.result !== null, () => `patient ${patient.token} was not found for erasure`)
  patient.erasure = 'certain'
}
