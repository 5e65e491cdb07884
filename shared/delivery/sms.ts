import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns'
import { type SendResult, toAcceptedResult, toSendResult } from './send-result.ts'

export type SmsSettings = {
  /** The sender that phones display, where the country allows it: 1 to 11 letters and digits. */
  readonly senderId: string
  /** The maximum price of one SMS in US dollars, such as `0.50`. */
  readonly maxPrice: string
}

const MAX_ATTEMPTS = 3

/** Waits before another attempt. */
export type RetryTimer = {
  readonly sleep: (ms: number) => Promise<unknown>
  /** A number from 0 to 1. */
  readonly random: () => number
}

/**
 * Sends SMS through SNS. The client must have `maxAttempts: 1`: the SDK would repeat a call whose response was lost, and
 * the SMS could be sent twice. This sender repeats a call only if SNS certainly does not have the SMS.
 */
export function smsSender(
  client: SNSClient,
  { senderId, maxPrice }: SmsSettings,
  { sleep, random }: RetryTimer,
) {
  async function send(recipient: string, text: string): Promise<SendResult> {
    for (let attempt = 1; ; attempt++) {
      const result = await publish(recipient, text)
      if (result.kind !== 'unavailable' || attempt === MAX_ATTEMPTS) return result
      await sleep(random() * 100 * 2 ** attempt)
    }
  }

  const publish = (recipient: string, text: string): Promise<SendResult> =>
    client
      .send(
        new PublishCommand({
          PhoneNumber: recipient,
          Message: text,
          MessageAttributes: {
            'AWS.SNS.SMS.SMSType': { DataType: 'String', StringValue: 'Transactional' },
            'AWS.SNS.SMS.SenderID': { DataType: 'String', StringValue: senderId },
            'AWS.SNS.SMS.MaxPrice': { DataType: 'Number', StringValue: maxPrice },
          },
        }),
      )
      .then(toAcceptedResult, toSendResult)

  return { send }
}
