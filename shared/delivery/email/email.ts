import { type SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2'
import { formatMailbox, formatSubject } from '../../domain/messages/mail-header.ts'
import { asciiAddress } from '../../domain/patients/text-fields.ts'
import { type SendResult, toAcceptedResult, toSendResult } from '../send-result.ts'
import { emailScenario } from '../test-recipients.ts'
import { simulatedEvents } from './feedback.ts'

export type EmailSettings = {
  /** The sender's address; its domain must be verified with SES. */
  readonly from: string
  /** The SES configuration set that requires TLS and publishes events of each email. */
  readonly configurationSet: string
}

export type Email = {
  readonly clinic: string
  readonly message: string
  /** Shown as the sender's name. */
  readonly fromName: string
  /** Replies go to the sender's address if null. */
  readonly replyTo: string | null
  readonly recipient: string
  readonly subject: string
  readonly text: string
  /** How often it was queued again because its provider was unavailable. */
  readonly waits: number
  readonly isTest?: true | undefined
}

export type EmailSender = { readonly send: (email: Email) => Promise<SendResult> }

const utf8 = (Data: string) => ({ Data, Charset: 'UTF-8' })

/**
 * Sends an email through SES, at most once: the client must have `maxAttempts: 1`. SES includes the tags in every event of
 * the email, so that the event can be matched to its message.
 */
export function emailSender(client: SESv2Client, { from, configurationSet }: EmailSettings): EmailSender {
  const send = ({
    clinic,
    message,
    fromName,
    replyTo,
    recipient,
    subject,
    text,
  }: Email): Promise<SendResult> =>
    client
      .send(
        new SendEmailCommand({
          FromEmailAddress: formatMailbox(fromName, from),
          ...(replyTo !== null && { ReplyToAddresses: [asciiAddress(replyTo)] }),
          Destination: { ToAddresses: [asciiAddress(recipient)] },
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

/** Sends nothing: the address decides the result, and what the provider reports afterwards. */
export const simulatedEmail = (now: () => number, newId: () => string): EmailSender => ({
  send: async ({ recipient, waits }) => {
    const { rejection, rejectionCount = Infinity, replyLost } = emailScenario([recipient])
    if (rejection && waits < rejectionCount)
      return toSendResult({
        name: rejection.code,
        message: rejection.message,
        $metadata: { httpStatusCode: rejection.status },
      })
    const providerMessageId = newId()
    const at = new Date(now()).toISOString()
    const feedback = simulatedEvents(recipient, at, providerMessageId)
    return { ...(replyLost ? toSendResult({}) : { kind: 'accepted', providerMessageId }), feedback }
  },
})
