import { type SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2'
import { formatMailbox, formatSubject } from '../domain/mail-header.ts'
import { type SendResult, toAcceptedResult, toSendResult } from './send-result.ts'

export type EmailSettings = {
  /** The address that mail comes from; its domain is verified with SES. */
  readonly from: string
  /** Requires TLS, and publishes what becomes of the mail. */
  readonly configurationSet: string
}

export type Email = {
  readonly clinic: string
  readonly message: string
  /** Shown beside the sender's address. */
  readonly clinicName: string
  readonly recipient: string
  readonly subject: string
  readonly text: string
}

export type EmailSender = ReturnType<typeof emailSender>

const utf8 = (Data: string) => ({ Data, Charset: 'UTF-8' })

/**
 * Hands an email to SES, once: the client must have `maxAttempts: 1`. Its tags come back with every event of the mail,
 * and find the log entry again.
 */
export function emailSender(client: SESv2Client, { from, configurationSet }: EmailSettings) {
  const send = ({ clinic, message, clinicName, recipient, subject, text }: Email): Promise<SendResult> =>
    client
      .send(
        new SendEmailCommand({
          FromEmailAddress: formatMailbox(clinicName, from),
          Destination: { ToAddresses: [recipient] },
          Content: { Simple: { Subject: utf8(formatSubject(subject)), Body: { Text: utf8(text) } } },
          ConfigurationSetName: configurationSet,
          EmailTags: [
            { Name: 'clinic', Value: clinic },
            { Name: 'message', Value: message },
          ],
        }),
      )
      .then(toAcceptedResult, toSendResult)
  return { send }
}
