import { setTimeout as sleep } from 'node:timers/promises'
import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns'
import { type SendResult, toAcceptedResult, toSendResult } from './send-result.ts'

export type SmsSettings = {
  /** What phones show as the sender, where a country allows it: 1 to 11 letters and digits. */
  readonly senderId: string
  /** The most that one SMS may cost, in US dollars, as `0.50`. */
  readonly maxPrice: string
}

const MAX_ATTEMPTS = 3

/**
 * Sends SMS through SNS. The client must have `maxAttempts: 1`: the SDK would repeat a call whose reply was lost, and
 * the SMS would go out twice. This repeats only what was provably not handed over.
 */
export function smsSender(client: SNSClient, { senderId, maxPrice }: SmsSettings) {
  async function send(recipient: string, text: string): Promise<SendResult> {
    for (let attempt = 1; ; attempt++) {
      const result = await publish(recipient, text)
      if (result.kind !== 'unavailable' || attempt === MAX_ATTEMPTS) return result
      await sleep(Math.random() * 100 * 2 ** attempt)
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
