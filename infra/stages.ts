import { Duration, RemovalPolicy } from 'aws-cdk-lib'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'

/** What differs between the stages; everything else is the same in all of them. */
export type StageSettings = {
  readonly name: string
  /** Whether data outlives the stack. */
  readonly removalPolicy: RemovalPolicy
  readonly deletionProtection: boolean
  readonly logRetention: RetentionDays
  /** Hold every answer against its response schema. */
  readonly checkResponses: boolean
  /** Of a credential issued without a rate of its own. */
  readonly requestsPerMinute: number
  readonly messaging: MessagingSettings
  /** The gateway's own limit, over all credentials: requests a second, and at once. */
  readonly throttle: { readonly rate: number; readonly burst: number }
}

export type MessagingSettings = {
  /** Mail comes from here; its domain, or itself, is verified with SES. */
  readonly emailFrom: string
  /** What phones show as the sender, where a country allows it: 1 to 11 letters and digits. */
  readonly smsSenderId: string
  /** US dollars for one SMS. */
  readonly smsMaxPrice: string
  /** Of a clinic without limits of its own, in one of its days: what a leaked credential can spend. */
  readonly smsPerDay: number
  readonly emailsPerDay: number
  /** ISO 3166 codes of the countries that SMS go to, unless a clinic has a list of its own. */
  readonly smsCountries: readonly string[]
}

/** The European Economic Area and some neighbours and friends: none where an SMS earns its number's owner money. */
const SMS_COUNTRIES =
  'AT,AU,BE,BG,CA,CH,CY,CZ,DE,DK,EE,ES,FI,FR,GB,GR,HR,HU,IE,IS,IT,JP,LI,LT,LU,LV,MT,NL,NO,NZ,PL,PT,RO,SE,SI,SK,TR,US'.split(
    ',',
  )

/** What a deployment says of itself with `-c emailFrom=... -c smsSenderId=...`. */
export type SenderNames = Pick<MessagingSettings, 'emailFrom' | 'smsSenderId'>

/** A function's own limit; the gateway's is 29 s. */
export const FUNCTION_TIMEOUT = Duration.seconds(15)

const STAGES: Record<string, Omit<StageSettings, 'name' | 'messaging'>> = {
  dev: {
    removalPolicy: RemovalPolicy.DESTROY,
    deletionProtection: false,
    logRetention: RetentionDays.ONE_WEEK,
    checkResponses: true,
    // Test suites and load runs are a developer's everyday clients.
    requestsPerMinute: 60_000,
    throttle: { rate: 1000, burst: 2000 },
  },
  prod: {
    removalPolicy: RemovalPolicy.RETAIN,
    deletionProtection: true,
    logRetention: RetentionDays.THREE_MONTHS,
    checkResponses: false,
    requestsPerMinute: 300,
    throttle: { rate: 1000, burst: 2000 },
  },
}

/** @throws Error naming the stages there are */
export function stageSettings(
  name: string,
  { emailFrom = 'clinic@example.com', smsSenderId = 'Clinic' }: Partial<SenderNames> = {},
): StageSettings {
  const settings = STAGES[name]
  if (!settings)
    throw new Error(`There is no stage "${name}". Choose one with -c stage=${Object.keys(STAGES).join('|')}.`)
  if (!/^[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/.test(emailFrom))
    throw new Error(`emailFrom is no address: "${emailFrom}".`)
  if (!/^(?=.*[A-Za-z])[A-Za-z0-9]{1,11}$/.test(smsSenderId))
    throw new Error(`smsSenderId must have 1 to 11 letters and digits, and a letter: "${smsSenderId}".`)
  const messaging = {
    emailFrom,
    smsSenderId,
    smsMaxPrice: '0.50',
    smsPerDay: 1000,
    emailsPerDay: 5000,
    smsCountries: SMS_COUNTRIES,
  }
  return { name, ...settings, messaging }
}
