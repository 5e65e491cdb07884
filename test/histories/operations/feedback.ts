/** Reports of providers on messages, and messages that the clinic sent with its former system. */
import { identified, type MessageModel } from '../model.ts'
import { pick, type Run } from '../run.ts'
import { importRows } from './import-rows.ts'
import { importedPatients, rowCount, settleRows } from './imports.ts'

/** The provider reports a message that it has as delivered or failed, possibly more than once and in any order. */
export async function reportFeedback(run: Run): Promise<void> {
  const { world, clinic, operation } = run
  const [byMessage, byKind = 0] = operation.random
  const message = pick(
    identified(clinic.messages).filter(({ isImported }) => !isImported),
    byMessage,
  )
  if (!message || !world.reportFeedback) return
  const { channel, token } = message
  if ((await world.timesSent(channel, token)) === 0) return
  const kind = byKind < 0.6 ? 'delivered' : 'failed'
  message.feedback.possible.add(kind)
  const report = { clinic: clinic.id, id: message.id, channel, text: token, kind } as const
  if (await world.reportFeedback(report, operation.crash)) message.feedback.certain.add(kind)
}

export async function importMessages(run: Run): Promise<void> {
  const { clinic, operation } = run
  const messages = Array.from({ length: rowCount(run) }, (_, row): MessageModel[] => {
    const patient = pick(importedPatients(run), operation.random[1 + row])
    if (!patient) return []
    const token = `l${operation.number}x${row}${clinic.suffix}`
    const channel = row % 2 === 0 ? 'sms' : 'email'
    return [
      {
        token,
        channel,
        patient,
        id: clinic.idOf('message', token),
        existence: 'possible',
        isReportedSent: false,
        isImported: true,
        feedback: { certain: new Set(), possible: new Set() },
      },
    ]
  }).flat()
  if (messages.length === 0) return
  clinic.messages.push(...messages)
  const rows = messages.map(({ token, channel, patient }) => ({
    external_id: token,
    patient_external_id: patient.externalId,
    channel,
    message: token,
    ...{
      recipient: channel === 'sms' ? '+905320000000' : 'before@example.com',
      sent_at: '2026-04-01T10:00:00Z',
    },
  }))
  const result = await importRows(run, 'messages', rows)
  if (result) settleRows(messages, result.rejected)
}
