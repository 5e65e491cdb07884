import { Duration, type Environment, RemovalPolicy } from 'aws-cdk-lib'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { ObjectLockRetention } from 'aws-cdk-lib/aws-s3'
import { type MonitoringSettings, monitoringSettings } from './monitoring-settings.ts'
import { type RecoverySettings, recoverySettings } from './recovery-settings.ts'
import {
  accountSetting,
  bootstrapQualifierSetting,
  cellSetting,
  type DomainSettings,
  domainSettings,
  emailFromSetting,
  integerSetting,
  isExampleAddress,
  optionalIntegerSetting,
  provisionedSetting,
  regionSetting,
  retentionSetting,
  smsSenderIdSetting,
  switchSetting,
  type Throughput,
  versionSetting,
  warmThroughputSetting,
} from './setting-checks.ts'
import {
  type Overrides,
  readStage,
  type SettingName,
  type Settings,
  type StageKind,
  stageFileName,
  stageNames,
} from './stage-file.ts'

/** The settings that differ between stages. */
export type StageSettings = {
  readonly name: string
  readonly kind: StageKind
  /** The account and region that the stage is deployed to. Production has both; others may leave them to the shell. */
  readonly env: Environment
  /** Names the roles and the bucket by which the CDK deploys: those of the bootstrap stack with this qualifier. */
  readonly bootstrapQualifier: string
  /** The name of this deployment among several for different clinics. */
  readonly cell: string
  /** Whether data is retained when the stack is deleted, except by a creation that failed. */
  readonly removalPolicy: RemovalPolicy
  /** Protects the stacks and the table from deletion. A first creation that fails could not be rolled back then. */
  readonly deletionProtection: boolean
  /** The API's own domain. Without it, callers use the address of API Gateway. */
  readonly domain: DomainSettings | undefined
  readonly logRetention: RetentionDays
  readonly accessTrail: AccessTrailSettings
  /** Whether every response is checked against its schema. */
  readonly checkResponses: boolean
  /** The default rate of a credential. */
  readonly requestsPerMinute: number
  readonly messaging: MessagingSettings
  readonly monitoring: MonitoringSettings
  /** Whether delivery receipts of SMS are read. */
  readonly smsReceipts: boolean
  /** Whether a web ACL filters the requests. */
  readonly firewall: boolean
  /** The gateway's limit for each method, shared by all credentials. */
  readonly throttle: Throttle
  /** The account's limit of concurrent invocations, to be shared; undefined to reserve nothing. */
  readonly accountConcurrency: number | undefined
  /** The concurrency that everything the gateway admits fits into; undefined to admit `throttle` to each endpoint. */
  readonly servedConcurrency: number | undefined
  /** Units a second that the table takes at once; undefined for what DynamoDB chooses. */
  readonly warmThroughput: Throughput | undefined
  /** The units that are billed at least, with auto scaling; undefined to bill by request. */
  readonly provisioned: Throughput | undefined
  readonly recovery: RecoverySettings
  /** The commit that is deployed, for an output; undefined if it was not given. */
  readonly version: string | undefined
}

/** Requests a second, and how many more at once. */
export type Throttle = { readonly rate: number; readonly burst: number }

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
  /** The default limit of a clinic per day. Bounds what a leaked credential can spend. */
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

/** The timeout of functions; the gateway's is 29 s. */
export const FUNCTION_TIMEOUT = Duration.seconds(15)

type KindSettings = Pick<
  StageSettings,
  'removalPolicy' | 'logRetention' | 'accessTrail' | 'checkResponses' | 'requestsPerMinute' | 'throttle'
>

const KIND_SETTINGS: Record<StageKind, KindSettings> = {
  development: {
    removalPolicy: RemovalPolicy.DESTROY,
    logRetention: RetentionDays.ONE_MONTH,
    accessTrail: { retention: Duration.days(7), locked: false },
    checkResponses: true,
    // Test suites and load tests must not be throttled.
    requestsPerMinute: 60_000,
    throttle: { rate: 1000, burst: 2000 },
  },
  production: {
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    logRetention: RetentionDays.ONE_MONTH,
    // Six years, which is what HIPAA requires of such records.
    accessTrail: { retention: Duration.days(2192), locked: true },
    checkResponses: false,
    requestsPerMinute: 300,
    // With the rate, less than the quota of 1,000 functions at a time, if a request takes 0.1 s.
    throttle: { rate: 1000, burst: 500 },
  },
}

/** SES's rate for an account that has just left the sandbox. */
const DEFAULT_EMAILS_PER_SECOND = '14'

/** Settings without a default, since every default would be wrong somewhere. */
const REQUIRED: Record<StageKind, readonly SettingName[]> = {
  development: ['emailFrom', 'smsSenderId'],
  // The account, so that a wrong shell cannot make a second production whose data is retained.
  production: ['account', 'region', 'emailFrom', 'smsSenderId'],
}

/**
 * The settings of a stage, from its file in infra/stages and what `-c` overrides.
 * @throws Error for an unknown stage, and for a missing or invalid setting
 */
export function stageSettings(name: string, overrides: Overrides = {}): StageSettings {
  const { kind, settings } = readStage(name, overrides)
  requireSettings(name, kind, settings)
  const byKind = KIND_SETTINGS[kind]
  const retention = retentionSetting(settings) ?? byKind.accessTrail.retention
  return {
    name,
    kind,
    env: { account: accountSetting(settings), region: regionSetting(settings) },
    bootstrapQualifier: bootstrapQualifierSetting(settings),
    cell: cellSetting(settings),
    ...byKind,
    deletionProtection: switchSetting('protection', settings),
    accessTrail: { ...byKind.accessTrail, retention },
    messaging: messagingSettings(kind, settings),
    monitoring: monitoringSettings(settings),
    smsReceipts: switchSetting('smsReceipts', settings, kind === 'production' ? 'on' : 'off'),
    firewall: switchSetting('firewall', settings, kind === 'production' ? 'on' : 'off'),
    domain: domainSettings(settings),
    ...gatewaySettings(kind, settings),
    warmThroughput: warmThroughputSetting(settings),
    provisioned: provisionedSetting(settings),
    recovery: recoverySettings(settings),
    version: versionSetting(settings),
  }
}

/** Lambda's quota of functions at a time, unless the account is new or AWS has raised it. */
export const DEFAULT_CONCURRENCY = 1000

/** Limits that are set by hand replace those that fit into the default quota, not those of `accountConcurrency`. */
function gatewaySettings(
  kind: StageKind,
  settings: Settings,
): Pick<StageSettings, 'throttle' | 'accountConcurrency' | 'servedConcurrency'> {
  const { throttle } = KIND_SETTINGS[kind]
  const rate = optionalIntegerSetting('throttleRate', settings, 1)
  const burst = optionalIntegerSetting('throttleBurst', settings, 1)
  const accountConcurrency = optionalIntegerSetting('accountConcurrency', settings, 1)
  const isDefault = kind === 'production' && rate === undefined && burst === undefined
  return {
    throttle: { rate: rate ?? throttle.rate, burst: burst ?? throttle.burst },
    accountConcurrency,
    servedConcurrency: accountConcurrency ?? (isDefault ? DEFAULT_CONCURRENCY : undefined),
  }
}

/** Whether two stages can be in the same account: a stage without an account can be in any. */
export const canShareAccount = (one: string | undefined, other: string | undefined): boolean =>
  one === undefined || other === undefined || one === other

/** What the file of another stage says about its account. */
export type OtherStage = Pick<StageSettings, 'name' | 'kind'> & { readonly account: string | undefined }

/** The other stages that have a file. */
export const otherStages = (name: string): OtherStage[] =>
  stageNames()
    .filter((other) => other !== name)
    .map((other) => {
      const { kind, settings } = readStage(other, {})
      return { name: other, kind, account: accountSetting(settings) }
    })

function requireSettings(name: string, kind: StageKind, settings: Settings): void {
  const missing = REQUIRED[kind].filter((setting) => settings[setting] === undefined)
  if (missing.length > 0)
    throw new Error(
      `The stage "${name}" needs ${missing.join(', ')}: set them in ${stageFileName(name)}, or with -c NAME=VALUE.`,
    )
}

function messagingSettings(
  kind: StageKind,
  { emailFrom = '', smsSenderId = '', emailsPerSecond = DEFAULT_EMAILS_PER_SECOND }: Settings,
): MessagingSettings {
  const from = emailFromSetting(emailFrom)
  if (kind === 'production' && isExampleAddress(from))
    throw new Error(`emailFrom is of a domain for examples, which cannot be verified with SES: "${from}".`)
  return {
    emailFrom: from,
    smsSenderId: smsSenderIdSetting(smsSenderId),
    emailsPerSecond: integerSetting('emailsPerSecond', emailsPerSecond, 1),
    smsMaxPrice: '0.50',
    smsPerDay: 1000,
    emailsPerDay: 5000,
    messagesPerRecipient: 10,
    smsCountries: SMS_COUNTRIES,
  }
}

/** Warnings about a deployment with these settings, which do not prevent it. */
export function stageWarnings({
  kind,
  deletionProtection,
  messaging,
  domain,
  firewall,
  accountConcurrency,
  servedConcurrency,
}: StageSettings): string[] {
  const { emailFrom } = messaging
  return [
    ...(isExampleAddress(emailFrom)
      ? [`SES will reject all emails: emailFrom is ${emailFrom}, of a domain for examples.`]
      : []),
    ...(kind === 'production' && !deletionProtection
      ? ['The stacks can be deleted. Set protection to "on" when the first deployment has succeeded.']
      : []),
    ...(kind === 'production' && !domain
      ? ['Without a domain, the address of the API is for trials: it ends with the API.']
      : []),
    ...(kind === 'production' && accountConcurrency === undefined && servedConcurrency !== undefined
      ? [
          `Nothing is reserved, and the gateway admits what ${servedConcurrency} functions serve. Set accountConcurrency to the limit of the account, or throttleRate and throttleBurst if it is lower.`,
        ]
      : []),
    ...(kind === 'production' && !firewall
      ? ['Without a firewall, one address can use up the limit of an endpoint for all callers.']
      : []),
  ]
}

/** The object lock of the trail's bucket. In compliance mode it cannot be shortened. */
export const objectLock = ({ locked, retention }: AccessTrailSettings) =>
  locked && { objectLockEnabled: true, objectLockDefaultRetention: ObjectLockRetention.compliance(retention) }
