import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns'
import { type SendResult, toAcceptedResult, toSendResult } from '../send-result.ts'

const TOO_LATE: SendResult = { kind: 'unavailable', reason: 'Not sent: the request had taken too long' }

export type SmsSettings = {
  /** The sender that phones display, where the country allows it: 1 to 11 letters and digits. */
  readonly senderId: string
  /** The maximum price of one SMS in US dollars, such as `0.50`. */
  readonly maxPrice: string
}

export type SmsSender = ReturnType<typeof smsSender>

/** Sends SMS through SNS, at most once: the client must have `maxAttempts: 1`. */
export function smsSender(client: SNSClient, { senderId, maxPrice }: SmsSettings) {
  /** The call and its connection end at the deadline. After it, SNS is not called. */
  async function send(recipient: string, text: string, deadline: AbortSignal): Promise<SendResult> {
    if (deadline.aborted) return TOO_LATE
    let isCalled = false
    const command = new PublishCommand({
      PhoneNumber: recipient,
      Message: text,
      MessageAttributes: {
        'AWS.SNS.SMS.SMSType': { DataType: 'String', StringValue: 'Transactional' },
        'AWS.SNS.SMS.SenderID': { DataType: 'String', StringValue: senderId },
        'AWS.SNS.SMS.MaxPrice': { DataType: 'Number', StringValue: maxPrice },
      },
    })
    // The last step before the connection. Getting credentials comes earlier, and may take until after the deadline.
    command.middlewareStack.add(
      (next) => (request) => {
        isCalled = !deadline.aborted
        return next(request)
      },
      { step: 'deserialize', priority: 'low' },
    )
    return client
      .send(command, { abortSignal: deadline })
      .then(toAcceptedResult, (error) => (deadline.aborted && !isCalled ? TOO_LATE : toSendResult(error)))
  }
  return { send }
}
