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
  /** The gateway's own limit, over all credentials: requests a second, and at once. */
  readonly throttle: { readonly rate: number; readonly burst: number }
}

/** A function's own limit; the gateway's is 29 s. */
export const FUNCTION_TIMEOUT = Duration.seconds(15)

const STAGES: Record<string, Omit<StageSettings, 'name'>> = {
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
export function stageSettings(name: string): StageSettings {
  const settings = STAGES[name]
  if (!settings)
    throw new Error(`There is no stage "${name}". Choose one with -c stage=${Object.keys(STAGES).join('|')}.`)
  return { name, ...settings }
}
