import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { ObjectLockRetention } from 'aws-cdk-lib/aws-s3'
import { CELL_PATTERN, DEFAULT_CELL } from '../shared/domain/credential.ts'

/** The settings that differ between stages. */
export type StageSettings = {
  readonly name: string
  /** The name of this deployment among several for different clinics. */
  readonly cell: string
  /** Whether data is retained when the stack is deleted. */
  readonly removalPolicy: RemovalPolicy
  readonly deletionProtection: boolean
  readonly logRetention: RetentionDays
  readonly accessTrail: AccessTrailSettings
  /** Whether every response is checked against its schema. */
  readonly checkResponses: boolean
  /** For credentials that have no rate of their own. */
  readonly requestsPerMinute: number
  readonly messaging: MessagingSettings
  /** Whether delivery receipts of SMS are read. */
  readonly smsReceipts: boolean
  /** The gateway's limit for each method, shared by all credentials: requests per second, and burst. */
  readonly throttle: { readonly rate: number; readonly burst: number }
  /** The account's limit of concurrent invocations, to be shared; undefined to reserve nothing. */
  readonly accountConcurrency: number | undefined
  /** Units a second that the table takes at once; undefined for what DynamoDB chooses. */
  readonly warmThroughput: { readonly reads: number; readonly writes: number } | undefined
}

export type AccessTrailSettings = {
  /** How long a line is kept. */
  readonly retention: Duration
  /** Whether a line cannot be deleted before that, not even by the account's owner. */
  readonly locked: boolean
}

export type MessagingSettings = {
  /** The sender of emails. The address or its domain must be verified with SES. */
  readonly emailFrom: string
  /** The sender that phones show in countries that allow it: 1 to 11 letters and digits. */
  readonly smsSenderId: string
  /** The rate of SES in the account. */
  readonly emailsPerSecond: number
  /** US dollars per SMS. */
  readonly smsMaxPrice: string
  /** Per day of a clinic that has no limit of its own. Bounds what a leaked credential can spend. */
  readonly smsPerDay: number
  readonly emailsPerDay: number
  /** Per day, channel and recipient. Keeps a leaked credential from flooding a patient. */
  readonly messagesPerRecipient: number
  /** ISO 3166 codes of the countries that SMS may go to, unless a clinic has its own list. */
  readonly smsCountries: readonly string[]
}

/** The European Economic Area and some other countries where receiving SMS earns the number's owner no money. */
const SMS_COUNTRIES =
  'AT,AU,BE,BG,CA,CH,CY,CZ,DE,DK,EE,ES,FI,FR,GB,GR,HR,HU,IE,IS,IT,JP,LI,LT,LU,LV,MT,NL,NO,NZ,PL,PT,RO,SE,SI,SK,TR,US'.split(
    ',',
  )

/** The sender names of a deployment, set by `-c emailFrom=... -c smsSenderId=...`. */
export type SenderNames = Pick<MessagingSettings, 'emailFrom' | 'smsSenderId'>

/** The timeout of functions; the gateway's is 29 s. */
export const FUNCTION_TIMEOUT = Duration.seconds(15)

type DeploymentSettings =
  | 'name'
  | 'cell'
  | 'messaging'
  | 'smsReceipts'
  | 'accountConcurrency'
  | 'warmThroughput'

const STAGES: Record<string, Omit<StageSettings, DeploymentSettings>> = {
  dev: {
    removalPolicy: RemovalPolicy.DESTROY,
    deletionProtection: false,
    logRetention: RetentionDays.ONE_MONTH,
    accessTrail: { retention: Duration.days(7), locked: false },
    checkResponses: true,
    // Test suites and load tests must not be throttled.
    requestsPerMinute: 60_000,
    throttle: { rate: 1000, burst: 2000 },
  },
  prod: {
    removalPolicy: RemovalPolicy.RETAIN,
    deletionProtection: true,
    logRetention: RetentionDays.ONE_MONTH,
    // Six years, which is what HIPAA requires of such records.
    accessTrail: { retention: Duration.days(2192), locked: true },
    checkResponses: false,
    requestsPerMinute: 300,
    throttle: { rate: 1000, burst: 2000 },
  },
}

/** What `-c` may set for a deployment. */
export type DeploymentContext = Partial<SenderNames> & {
  /** How long the access trail is kept: days from 1 to 36500. */
  readonly accessRetentionDays?: string | undefined
  /** Names the deployment where there are several: 1 to 8 lower-case letters and digits. */
  readonly cell?: string | undefined
  /** Whether delivery receipts of SMS are read: `on` or `off`. */
  readonly smsReceipts?: string | undefined
  /** The rate of SES in the account: an integer from 1. */
  readonly emailsPerSecond?: string | undefined
  /** The account's limit of concurrent invocations of functions. */
  readonly accountConcurrency?: string | undefined
  /** Read and write units a second that the table takes at once: both or neither. */
  readonly warmReads?: string | undefined
  readonly warmWrites?: string | undefined
}

/** SES's rate for an account that has just left the sandbox. */
const DEFAULT_EMAILS_PER_SECOND = '14'

/** @throws Error for an unknown stage or an invalid setting */
export function stageSettings(
  name: string,
  {
    emailFrom = 'clinic@example.com',
    smsSenderId = 'Clinic',
    smsReceipts = 'off',
    accessRetentionDays,
    cell = DEFAULT_CELL,
    emailsPerSecond = DEFAULT_EMAILS_PER_SECOND,
    accountConcurrency,
    ...warm
  }: DeploymentContext = {},
): StageSettings {
  const settings = STAGES[name]
  if (!settings)
    throw new Error(`Unknown stage "${name}". Choose one with -c stage=${Object.keys(STAGES).join('|')}.`)
  if (!/^[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/.test(emailFrom))
    throw new Error(`emailFrom is not an email address: "${emailFrom}".`)
  if (!/^(?=.*[A-Za-z])[A-Za-z0-9]{1,11}$/.test(smsSenderId))
    throw new Error(
      `smsSenderId must have 1 to 11 letters and digits, at least one a letter: "${smsSenderId}".`,
    )
  if (!CELL_PATTERN.test(cell))
    throw new Error(`cell must have 1 to 8 lower-case letters and digits: "${cell}".`)
  if (smsReceipts !== 'on' && smsReceipts !== 'off') throw new Error('smsReceipts must be "on" or "off".')
  const accessTrail = trailSettings(settings.accessTrail, accessRetentionDays)
  const messaging = {
    emailFrom,
    smsSenderId,
    emailsPerSecond: integerSetting('emailsPerSecond', emailsPerSecond, 1),
    smsMaxPrice: '0.50',
    smsPerDay: 1000,
    emailsPerDay: 5000,
    messagesPerRecipient: 10,
    smsCountries: SMS_COUNTRIES,
  }
  return {
    name,
    cell,
    ...settings,
    accessTrail,
    messaging,
    smsReceipts: smsReceipts === 'on',
    accountConcurrency:
      accountConcurrency === undefined
        ? undefined
        : integerSetting('accountConcurrency', accountConcurrency, 1),
    warmThroughput: warmThroughput(warm),
  }
}

/** DynamoDB's minimum is what every table on demand takes anyway. */
function warmThroughput({ warmReads, warmWrites }: Pick<DeploymentContext, 'warmReads' | 'warmWrites'>) {
  if (warmReads === undefined && warmWrites === undefined) return undefined
  if (warmReads === undefined || warmWrites === undefined)
    throw new Error('warmReads and warmWrites must be set together.')
  return {
    reads: integerSetting('warmReads', warmReads, 12_000),
    writes: integerSetting('warmWrites', warmWrites, 4000),
  }
}

function integerSetting(name: string, value: string, min: number): number {
  if (!/^[1-9]\d{0,6}$/.test(value) || Number(value) < min)
    throw new Error(`${name} must be an integer from ${min}: "${value}".`)
  return Number(value)
}

function trailSettings(settings: AccessTrailSettings, days: string | undefined): AccessTrailSettings {
  if (days === undefined) return settings
  if (!/^[1-9]\d{0,4}$/.test(days) || Number(days) > 36_500)
    throw new Error(`accessRetentionDays must be a number of days from 1 to 36500: "${days}".`)
  return { ...settings, retention: Duration.days(Number(days)) }
}

/** The object lock of the trail's bucket. In compliance mode it cannot be shortened. */
export const objectLock = ({ locked, retention }: AccessTrailSettings) =>
  locked && { objectLockEnabled: true, objectLockDefaultRetention: ObjectLockRetention.compliance(retention) }
