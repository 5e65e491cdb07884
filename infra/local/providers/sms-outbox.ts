import { randomUUID } from 'node:crypto'
import { type Rejection, type SmsScenario, smsScenario } from '../../../shared/delivery/test-recipients.ts'

/** An accepted SMS, as /_local/sms shows it. Attributes that were not sent are null. */
export type Sms = {
  readonly message_id: string
  readonly to: string
  readonly message: string
  readonly sender_id: string | null
  /** US dollars, as sent. */
  readonly max_price: string | null
  readonly type: string | null
  /** ISO 8601. */
  readonly at: string
}

export type SmsOutbox = ReturnType<typeof createSmsOutbox>

/** SNS accepts 1,600 characters per call and sends them in several parts. */
const MAX_CHARACTERS = 1600

/** Beyond the account's limit of spending, only the receipt says that an SMS was not sent. */
const OVER_QUOTA: SmsScenario = { receipt: 'FAILURE', response: 'No quota left for account' }

/** @param quota how many SMS are sent; further ones are accepted, and dropped */
export function createSmsOutbox(quota: () => number) {
  const accepted: Sms[] = []
  return {
    /** Newest last. */
    list: (): readonly Sms[] => accepted,
    /** Handles a call in SNS's query protocol. */
    publish: (form: URLSearchParams): { rejection: Rejection } | { sms: Sms; scenario: SmsScenario } => {
      const to = form.get('PhoneNumber') ?? ''
      const message = form.get('Message') ?? ''
      const scenario = smsScenario(to)
      const rejection = validationError(form, to, message) ?? scenario.rejection
      if (rejection) return { rejection }
      const attributes = attributesOf(form)
      const sms = {
        message_id: randomUUID(),
        to,
        message,
        sender_id: attributes.get('AWS.SNS.SMS.SenderID') ?? null,
        max_price: attributes.get('AWS.SNS.SMS.MaxPrice') ?? null,
        type: attributes.get('AWS.SNS.SMS.SMSType') ?? null,
        at: new Date().toISOString(),
      }
      if (accepted.length >= quota()) return { sms, scenario: OVER_QUOTA }
      accepted.push(sms)
      return { sms, scenario }
    },
  }
}

function validationError(form: URLSearchParams, to: string, message: string): Rejection | undefined {
  const reject = (code: string, text: string): Rejection => ({ status: 400, code, message: text })
  if (form.get('Action') !== 'Publish')
    return reject('InvalidAction', `The local SNS supports Publish only, not ${form.get('Action')}.`)
  if (!form.has('PhoneNumber'))
    return reject('InvalidParameter', 'Invalid parameter: the local SNS publishes to a PhoneNumber only')
  if (!/^\+[1-9]\d{6,14}$/.test(to))
    return reject(
      'InvalidParameter',
      `Invalid parameter: PhoneNumber Reason: ${to} is not valid to publish to`,
    )
  if (message === '') return reject('InvalidParameter', 'Invalid parameter: Empty message')
  if ([...message].length > MAX_CHARACTERS)
    return reject('InvalidParameter', 'Invalid parameter: Message too long')
  return undefined
}

/** Numbered from 1: `MessageAttributes.entry.1.Name`, `MessageAttributes.entry.1.Value.StringValue`. */
function attributesOf(form: URLSearchParams): Map<string, string> {
  const attributes = new Map<string, string>()
  for (let at = 1; ; at++) {
    const entry = `MessageAttributes.entry.${at}`
    const name = form.get(`${entry}.Name`)
    if (name === null) return attributes
    attributes.set(name, form.get(`${entry}.Value.StringValue`) ?? '')
  }
}
