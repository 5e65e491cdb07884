import { randomBytes, randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { CARRIER_RESPONSES, type SmsScenario } from '../../../shared/delivery/test-recipients.ts'
import { type FunctionPool, invokeAsync } from '../functions/pool.ts'
import { ACCOUNT_ID } from '../template/physical-names.ts'
import type { ResolvedTemplate } from '../template/template.ts'
import type { Sms } from './sms-outbox.ts'

/** SNS's delivery status record of one SMS. */
export type SmsReceipt = {
  readonly notification: { readonly messageId: string; readonly timestamp: string }
  readonly delivery: Readonly<Record<string, string | number>>
  readonly status: SmsScenario['receipt']
}

export const createReceipt = (
  { message_id, to, type, at }: Sms,
  { receipt, response = CARRIER_RESPONSES[receipt] }: SmsScenario,
): SmsReceipt => ({
  notification: { messageId: message_id, timestamp: at.replace('T', ' ').replace('Z', '') },
  delivery: {
    phoneCarrier: 'Test Range',
    mnc: 0,
    numberOfMessageParts: 1,
    destination: to,
    priceInUSD: 0.00645,
    smsType: type ?? 'Promotional',
    mcc: 0,
    providerResponse: response,
    dwellTimeMs: 100,
    dwellTimeMsUntilDeviceAck: Date.now() - Date.parse(at),
  },
  status: receipt,
})

/** The log group that SNS writes the receipts of SMS to phone numbers to. */
const receiptLogGroup = (region: string, status: SmsScenario['receipt']): string =>
  `sns/${region}/${ACCOUNT_ID}/DirectPublishToPhoneNumber${status === 'FAILURE' ? '/Failure' : ''}`

type FilterProperties = {
  readonly LogGroupName: string
  readonly DestinationArn: string
  readonly FilterName?: string
  readonly FilterPattern?: string
}

/** A subscription of a function to a log group. */
export type LogSubscription = {
  readonly id: string
  readonly filterName: string
  readonly logGroup: string
  readonly functionArn: string
}

/** The subscriptions of functions. @throws Error that names an unsupported one */
export function logSubscriptions(template: ResolvedTemplate): LogSubscription[] {
  const filters = template.resourcesOf<FilterProperties>('AWS::Logs::SubscriptionFilter')
  return filters.flatMap(({ id, properties }) => {
    const { LogGroupName, DestinationArn, FilterName, FilterPattern = '' } = properties
    if (!DestinationArn.startsWith('arn:aws:lambda:')) return []
    if (FilterPattern.trim() !== '')
      throw new Error(`${id} has a FilterPattern, which the local stack does not support.`)
    return { id, filterName: FilterName ?? id, logGroup: LogGroupName, functionArn: DestinationArn }
  })
}

type ReceiptSubscribers = {
  readonly subscriptions: readonly LogSubscription[]
  readonly region: string
  readonly getPool: (arn: string) => FunctionPool
  readonly log: (line: string) => void
}

/** Invokes the functions that are subscribed to the log group of the receipt's status. */
export async function writeReceipt(
  receipt: SmsReceipt,
  { subscriptions, region, getPool, log }: ReceiptSubscribers,
): Promise<void> {
  const logGroup = receiptLogGroup(region, receipt.status)
  await Promise.all(
    subscriptions
      .filter((subscription) => subscription.logGroup === logGroup)
      .map((subscription) =>
        invokeAsync(getPool(subscription.functionArn), logsEvent(subscription, receipt), log),
      ),
  )
}

/** The event of a function that is subscribed to a log group. */
export function logsEvent(
  { logGroup, filterName }: Pick<LogSubscription, 'logGroup' | 'filterName'>,
  receipt: SmsReceipt,
): string {
  const data = {
    messageType: 'DATA_MESSAGE',
    owner: ACCOUNT_ID,
    logGroup,
    logStream: randomUUID(),
    subscriptionFilters: [filterName],
    logEvents: [{ id: eventId(), timestamp: Date.now(), message: JSON.stringify(receipt) }],
  }
  return JSON.stringify({ awslogs: { data: gzipSync(JSON.stringify(data)).toString('base64') } })
}

/** A random id of 56 digits, as CloudWatch Logs has them. */
const eventId = (): string =>
  BigInt(`0x${randomBytes(20).toString('hex')}`)
    .toString()
    .padStart(56, '0')
