import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Duration, type Environment, RemovalPolicy } from 'aws-cdk-lib'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { ObjectLockRetention } from 'aws-cdk-lib/aws-s3'
import {
  isExampleAddress,
  parseSettings,
  StageAccount,
  type StageKind,
  type ValidSettings,
  withoutNulls,
} from './settings.ts'

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

/** Who is notified, and the limits that alarms compare with. */
export type MonitoringSettings = {
  /** Receives the notifications of alarms; undefined for no notifications. */
  readonly alarmEmail: string | undefined
  /** The account's limit of spending on SMS, US dollars a month. */
  readonly smsSpendLimit: number
  /** US dollars a month; undefined for no budget. */
  readonly monthlyBudget: number | undefined
  /** Whether X-Ray samples requests. */
  readonly tracing: boolean
  /** How often the API is requested through its domain; undefined for never. */
  readonly canary: { readonly minutes: number; readonly domain: string } | undefined
}

/** The settings of restores and backups. */
type RecoverySettings = {
  /** The table in use, if it is not the data stack's table. */
  readonly adoptedTable: AdoptedTable | undefined
  /** Daily backups in a locked vault, and copies of them in another region. */
  readonly backups: { readonly copyRegion: string | undefined } | undefined
}

type AdoptedTable = {
  readonly name: string
  /** The label of its stream. */
  readonly stream: string
  /** The id of its key; undefined for the key of the data stack. */
  readonly key: string | undefined
}

/** Units of a table, a second. */
export type Throughput = { readonly reads: number; readonly writes: number }

/** The API's own domain. */
export type DomainSettings = {
  readonly name: string
  /** A certificate of ACM, in the region of the deployment. */
  readonly certificateArn: string
  /** The zone of Route 53 that gets a record for the domain. */
  readonly hostedZone: { readonly id: string; readonly name: string } | undefined
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

/** Stacks, functions and queues have the stage in their names, which have a limited length and must differ from the names of another stage. */
const STAGE_NAME = /^[a-z][a-z0-9]{0,15}$/

/** Tests have separate stages, so that they do not depend on what a team fills in. */
const FOLDER = process.env.TEST_RUN_STAGES ?? join(import.meta.dirname, '../stages')

/** The stages that have a file. */
const stageNames = (): string[] =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.replace(/\.json$/, ''))
    .sort()

const readStage = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'))

/** Other names for `-c`: the stage, and the settings of the pipeline's role, which is not deployed with its stage. */
const OTHER_CONTEXT = ['stage', 'pipelineRepository', 'pipelineSubject', 'githubProviderArn']

/** What was given with `-c`, and in cdk.json, except names of the CDK, such as feature flags, which have colons or hyphens. */
export const settingsIn = (context: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(context).filter(([name]) => /^[A-Za-z]+$/.test(name) && !OTHER_CONTEXT.includes(name)),
  )

/**
 * The settings of a stage, from its file in infra/stages and what `-c` overrides.
 * @throws Error for an unknown stage, and one that lists all settings that are unknown, missing or wrong
 */
export function stageSettings(
  name: string,
  overrides: Readonly<Record<string, unknown>> = {},
): StageSettings {
  const stages = stageNames()
  if (!stages.includes(name))
    throw new Error(`Unknown stage "${name}". Choose one with -c stage=${stages.join('|')}.`)
  return settingsOfFile(name, readStage(name), overrides)
}

/** The settings of a stage from the content of its file, in which `null` is no value. */
export function settingsOfFile(
  name: string,
  content: Readonly<Record<string, unknown>>,
  overrides: Readonly<Record<string, unknown>>,
): StageSettings {
  const file = `infra/stages/${name}.json`
  if (!STAGE_NAME.test(name))
    throw new Error(`${file}: a stage is named by 1 to 16 lower-case letters and digits, a letter first.`)
  const given = Object.entries(overrides).filter(([, value]) => value !== undefined)
  const settings = parseSettings(file, { ...content, ...Object.fromEntries(given) })
  const { kind, domain, certificateArn, hostedZoneId, hostedZoneName, canaryMinutes } = settings
  const byKind = KIND_SETTINGS[kind]
  const isProduction = kind === 'production'
  return {
    name,
    kind,
    env: { account: settings.account, region: settings.region },
    bootstrapQualifier: settings.bootstrapQualifier,
    cell: settings.cell,
    ...byKind,
    deletionProtection: settings.protection,
    accessTrail: {
      ...byKind.accessTrail,
      retention: settings.accessRetentionDays ?? byKind.accessTrail.retention,
    },
    messaging: messagingSettings(settings),
    monitoring: {
      alarmEmail: settings.alarmEmail,
      smsSpendLimit: settings.smsSpendLimit,
      monthlyBudget: settings.monthlyBudget,
      tracing: settings.tracing,
      canary: canaryMinutes && domain ? { minutes: canaryMinutes, domain } : undefined,
    },
    smsReceipts: settings.smsReceipts ?? isProduction,
    firewall: settings.firewall ?? isProduction,
    domain:
      domain && certificateArn
        ? {
            name: domain,
            certificateArn,
            hostedZone:
              hostedZoneId && hostedZoneName ? { id: hostedZoneId, name: hostedZoneName } : undefined,
          }
        : undefined,
    ...gatewaySettings(settings),
    warmThroughput: throughput(settings.warmReads, settings.warmWrites),
    provisioned: throughput(settings.provisionedReads, settings.provisionedWrites),
    recovery: recoverySettings(settings),
    version: settings.version,
  }
}

const throughput = (reads: number | undefined, writes: number | undefined): Throughput | undefined =>
  reads && writes ? { reads, writes } : undefined

const recoverySettings = ({
  tableName: name,
  tableStream: stream,
  tableKey: key,
  backups,
  backupCopyRegion: copyRegion,
}: ValidSettings): RecoverySettings => ({
  adoptedTable: name && stream ? { name, stream, key } : undefined,
  backups: backups ? { copyRegion } : undefined,
})

/** Lambda's quota of functions at a time, unless the account is new or AWS has raised it. */
export const DEFAULT_CONCURRENCY = 1000

/** Limits that are set by hand replace those that fit into the default quota, not those of `accountConcurrency`. */
function gatewaySettings({
  kind,
  throttleRate: rate,
  throttleBurst: burst,
  accountConcurrency,
}: ValidSettings): Pick<StageSettings, 'throttle' | 'accountConcurrency' | 'servedConcurrency'> {
  const { throttle } = KIND_SETTINGS[kind]
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
      const { kind, account } = StageAccount.parse(withoutNulls(readStage(other)))
      return { name: other, kind, account }
    })

const messagingSettings = ({
  emailFrom,
  smsSenderId,
  emailsPerSecond,
}: ValidSettings): MessagingSettings => ({
  emailFrom,
  smsSenderId,
  emailsPerSecond,
  smsMaxPrice: '0.50',
  smsPerDay: 1000,
  emailsPerDay: 5000,
  messagesPerRecipient: 10,
  smsCountries: SMS_COUNTRIES,
})

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
