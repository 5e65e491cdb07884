import type { LocalStack } from '../../infra/local/stack.ts'
import type { ReadyClinic } from '../demo/load.ts'

/** The output of `npm start` when the stack is ready: addresses, a credential, and a request that books an appointment. */
export function banner(
  { baseUrl, smsOutboxUrl }: LocalStack,
  clinic: ReadyClinic | undefined,
  booking: string,
) {
  const credential = clinic
    ? `${clinic.credentials.full} (more at ${baseUrl}/_local)`
    : 'create a clinic and a credential: npm run clinic -- --help'
  return [
    '',
    `  API            ${baseUrl}/api/developer/v1`,
    `  Documentation  ${baseUrl}/docs`,
    `  Credential     ${credential}`,
    `  Messages       ${smsOutboxUrl}, ${baseUrl}/_local/emails`,
    '',
    ...(clinic && booking ? [`  Book an appointment at ${clinic.name}:`, '', booking, ''] : []),
  ].join('\n')
}

type Page = { readonly data: readonly { readonly id: string; readonly is_active?: boolean }[] }
type Slots = { readonly data: readonly { readonly date: string; readonly start_time: string }[] }

/** How many days ahead a free slot is looked for. */
const DAYS = 14

/** A curl command that books the first free slot from tomorrow on; empty if there is no slot, doctor or patient. */
export async function bookingRequest(
  baseUrl: string,
  { credentials, timezone }: ReadyClinic,
): Promise<string> {
  const api = `${baseUrl}/api/developer/v1`
  const authorization = `Developer ${credentials.full}`
  const get = async (path: string) => (await fetch(`${api}${path}`, { headers: { authorization } })).json()
  const day = (ahead: number) =>
    new Date(Date.now() + ahead * 86_400_000).toLocaleDateString('sv', { timeZone: timezone })
  const [doctors, patients] = (await Promise.all([get('/doctors'), get('/patients?limit=1')])) as [Page, Page]
  const doctor = doctors.data.find(({ is_active }) => is_active)
  const [patient] = patients.data
  if (!doctor || !patient) return ''
  const { data } = (await get(
    `/availability?doctor_id=${doctor.id}&date=${day(1)}&date_to=${day(DAYS)}&limit=1`,
  )) as Slots
  const [slot] = data
  if (!slot) return ''
  return `curl -sS '${api}/appointments' \\
  -H 'Authorization: ${authorization}' \\
  -H 'content-type: application/json' \\
  -d '{"patient_id": "${patient.id}",
       "doctor_id": "${doctor.id}",
       "appointment_date": "${slot.date}", "start_time": "${slot.start_time}"}'`
}
