/** Operations on messages. */
import { identified, isErased, type MessageModel } from '../model.ts'
import { demand } from '../register.ts'
import { pick, type Run, read, submit } from '../run.ts'

export async function sendMessage(run: Run): Promise<void> {
  const { clinic, operation } = run
  const [byPatient, byChannel = 0] = operation.random
  const patient = pick(identified(clinic.patients), byPatient)
  if (!patient) return
  const channel = byChannel < 0.5 ? 'sms' : 'email'
  const token = `m${operation.number}${clinic.suffix}`
  const message: MessageModel = {
    token,
    channel,
    patient,
    id: null,
    existence: 'possible',
    isReportedSent: false,
    feedback: { certain: new Set(), possible: new Set() },
  }
  clinic.messages.push(message)
  const outcome = await submit(run, 'send-message', {
    body: { channel, patient_id: patient.id, message: token },
  })
  if (outcome.kind === 'unknown') return
  if (outcome.kind === 'done') {
    message.existence = 'certain'
    message.id = outcome.body.data.id
    message.isReportedSent = outcome.body.data.status === 'sent'
    return
  }
  const { status, body } = outcome
  if (status === 404) demand(isErased(patient), () => `a message to ${patient.token} returned 404`)
  else if (status === 422) {
    const address = channel === 'sms' ? patient.phone : patient.email
    demand(address === null || isErased(patient), () => `a message returned ${JSON.stringify(body)}`)
  } else demand(status === 502, () => `a message returned ${status} ${JSON.stringify(body)}`)
  message.existence = 'none'
}

export async function listMessages(run: Run): Promise<void> {
  const { clinic } = run
  const committed = clinic.messages.filter(({ existence }) => existence === 'certain')
  const response = await read(run, 'list-messages', { query: { limit: '100' } })
  if (!response) return
  const { data } = response.body
  const ids = data.map(({ id }: { id: string }) => id)
  demand(new Set(ids).size === ids.length, () => 'a page of messages has one twice')
  const texts = new Set(data.map(({ message }: { message: string }) => message))
  const missing = committed.find(({ token, patient }) => !isErased(patient) && !texts.has(token))
  demand(!missing, () => `message ${missing?.token} is missing from its list`)
}
