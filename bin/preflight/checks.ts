import { TABLE_QUOTA } from '../../infra/data/data.ts'
import { canaryName } from '../../infra/settings/names.ts'
import { DEFAULT_QUALIFIER } from '../../infra/settings/settings.ts'
import { DEFAULT_CONCURRENCY, type StageSettings } from '../../infra/settings/stages.ts'

/**
 * Runs a read-only command of the AWS CLI, in the region of the stage unless it names another.
 * @throws Error with what the command printed
 */
export type Aws = <Response>(command: string, region?: string) => Promise<Response>

/** What a check found, and what to do about it, if anything. */
export type CheckResult = { readonly name: string; readonly found: string; readonly todo?: string }

type Outcome = {
  readonly isReady: boolean
  readonly found: string
  /** Replaces what the check says to do. */
  readonly todo?: string
}

type Check = {
  readonly name: string
  readonly appliesTo?: (stage: StageSettings) => boolean
  /** What to do if the account is not ready, or what the check reads does not exist: `error` is what the command printed. */
  readonly todo: (stage: StageSettings, error?: string) => string
  readonly run: (aws: Aws, stage: StageSettings) => Outcome | Promise<Outcome>
}

type SesAccount = {
  readonly ProductionAccessEnabled: boolean
  readonly SendingEnabled: boolean
  readonly SendQuota: { readonly MaxSendRate: number; readonly Max24HourSend: number }
}

type Certificate = {
  readonly Status: string
  readonly DomainName: string
  readonly SubjectAlternativeNames?: readonly string[]
}

/** The version of the bootstrap stack that the templates of this CDK need. */
const MIN_BOOTSTRAP_VERSION = 6

/** A new account may have 10, of which each request takes one for some tenths of a second. */
const MIN_CONCURRENCY = 100

async function bootstrapVersion(aws: Aws, { bootstrapQualifier }: StageSettings, region?: string) {
  const name = `/cdk-bootstrap/${bootstrapQualifier}/version`
  const { Parameter } = await aws<{ Parameter: { Value: string } }>(
    `ssm get-parameter --name ${name}`,
    region,
  )
  return {
    isReady: Number(Parameter.Value) >= MIN_BOOTSTRAP_VERSION,
    found: `the bootstrap stack has version ${Parameter.Value}`,
  }
}

function bootstrapCommand(
  { env, bootstrapQualifier: qualifier }: StageSettings,
  region = env.region,
): string {
  const options =
    qualifier === DEFAULT_QUALIFIER
      ? ''
      : ` --qualifier ${qualifier} --toolkit-stack-name CDKToolkit-${qualifier}`
  return `npx cdk bootstrap aws://${env.account ?? 'ACCOUNT'}/${region ?? 'REGION'}${options}`
}

/** The check that the shell is signed in to the account of the stage. Of another account, nothing else is read. */
const ACCOUNT: Check = {
  name: 'account',
  todo: ({ env: { account, region } }, error = '') => {
    if (/ENOENT|command not found/.test(error)) return 'install the AWS CLI'
    if (/endpoint URL|specify a region|Invalid endpoint/i.test(error))
      return `set region, which is ${region ?? 'not set'}, to one of AWS that is enabled in the account`
    return `sign in to ${account ?? 'the account of the stage'}: set AWS_PROFILE, or run "aws sso login"`
  },
  run: async (aws, { env: { account } }) => {
    const { Account } = await aws<{ Account: string }>('sts get-caller-identity')
    return {
      isReady: account === undefined || Account === account,
      found: `the shell is signed in to ${Account}`,
    }
  },
}

/** THE CHECKS, in the order in which docs/operate/going-to-production.md goes through them. */
export const CHECKS: readonly Check[] = [
  {
    name: 'bootstrap',
    todo: (stage) => bootstrapCommand(stage),
    run: (aws, stage) => bootstrapVersion(aws, stage),
  },
  {
    name: 'bootstrap of the region of backup copies',
    appliesTo: ({ recovery }) => recovery.backups?.copyRegion !== undefined,
    todo: (stage) =>
      `enable the region in the account if it is not enabled, then ${bootstrapCommand(stage, stage.recovery.backups?.copyRegion)}`,
    run: (aws, stage) => bootstrapVersion(aws, stage, stage.recovery.backups?.copyRegion),
  },
  {
    name: 'Lambda concurrency',
    todo: ({ servedConcurrency = MIN_CONCURRENCY }) =>
      `ask for ${Math.max(DEFAULT_CONCURRENCY, servedConcurrency)} in Service Quotas, and set accountConcurrency, or throttleRate and throttleBurst, to what the limit serves`,
    run: async (aws, { servedConcurrency = MIN_CONCURRENCY }) => {
      const { AccountLimit } = await aws<{ AccountLimit: { ConcurrentExecutions: number } }>(
        'lambda get-account-settings',
      )
      const limit = AccountLimit.ConcurrentExecutions
      return { isReady: limit >= servedConcurrency, found: `${limit} functions may run at a time` }
    },
  },
  {
    name: 'requests to API Gateway',
    todo: () =>
      'ask for a higher throttle rate of API Gateway in Service Quotas, or set throttleRate and throttleBurst to what the account has',
    run: async (aws, { throttle }) => {
      const { throttleSettings } = await aws<{ throttleSettings: { rateLimit: number; burstLimit: number } }>(
        'apigateway get-account',
      )
      const { rateLimit, burstLimit } = throttleSettings
      return {
        isReady: rateLimit >= throttle.rate && burstLimit >= throttle.burst,
        found: `all APIs of the account take ${rateLimit} requests a second and ${burstLimit} at once; one path of this API may take ${throttle.rate} and ${throttle.burst}`,
      }
    },
  },
  {
    name: 'units of a table',
    todo: () => `ask for ${TABLE_QUOTA} read and write units of a table in Service Quotas`,
    run: async (aws) => {
      const { TableMaxReadCapacityUnits: reads, TableMaxWriteCapacityUnits: writes } = await aws<{
        TableMaxReadCapacityUnits: number
        TableMaxWriteCapacityUnits: number
      }>('dynamodb describe-limits')
      return {
        isReady: reads >= TABLE_QUOTA && writes >= TABLE_QUOTA,
        found: `a table takes ${reads} read and ${writes} write units a second`,
      }
    },
  },
  {
    name: 'SES account',
    todo: () => 'ask for production access (step 2)',
    run: async (aws, { messaging: { emailsPerSecond } }) => {
      const { ProductionAccessEnabled, SendingEnabled, SendQuota } =
        await aws<SesAccount>('sesv2 get-account')
      const { MaxSendRate: rate, Max24HourSend: perDay } = SendQuota
      if (!ProductionAccessEnabled) return { isReady: false, found: 'the account is in the sandbox' }
      if (!SendingEnabled)
        return {
          isReady: false,
          found: 'sending is paused',
          todo: 'respond to the review in the console of SES',
        }
      return {
        isReady: rate >= emailsPerSecond,
        found: `SES sends ${rate} emails a second and ${perDay} a day`,
        todo: `set emailsPerSecond, which is ${emailsPerSecond}, to ${Math.floor(rate)}, or ask for a higher rate`,
      }
    },
  },
  {
    name: 'email sender',
    todo: (stage) =>
      `aws sesv2 create-email-identity --email-identity ${senderDomain(stage)}, and publish the CNAME records of step 2`,
    run: async (aws, stage) => {
      const { VerifiedForSendingStatus } = await aws<{ VerifiedForSendingStatus: boolean }>(
        `sesv2 get-email-identity --email-identity ${senderDomain(stage)}`,
      )
      return {
        isReady: VerifiedForSendingStatus,
        found: `${senderDomain(stage)} is ${VerifiedForSendingStatus ? '' : 'not '}verified`,
      }
    },
  },
  {
    name: 'SMS sandbox',
    todo: () => 'leave the sandbox in the console of SNS (step 3)',
    run: async (aws) => {
      const { IsInSandbox } = await aws<{ IsInSandbox: boolean }>('sns get-sms-sandbox-account-status')
      return { isReady: !IsInSandbox, found: `the account is ${IsInSandbox ? '' : 'not '}in the SMS sandbox` }
    },
  },
  {
    name: 'SMS spending limit',
    todo: () => 'set both to what the clinics send (step 3): an alarm compares with smsSpendLimit',
    run: async (aws, { monitoring: { smsSpendLimit } }) => {
      const { attributes } = await aws<{ attributes: { MonthlySpendLimit?: string } }>(
        'sns get-sms-attributes',
      )
      // SNS returns no limit that was never set: it is 1 USD then.
      const limit = Number(attributes.MonthlySpendLimit ?? 1)
      return {
        isReady: limit === smsSpendLimit,
        found: `SNS spends at most ${limit} USD a month; smsSpendLimit is ${smsSpendLimit}`,
      }
    },
  },
  {
    name: 'certificate',
    appliesTo: ({ domain }) => domain !== undefined,
    todo: ({ domain }) =>
      `issue a certificate for ${domain?.name} in ACM, in the region of the stage, and set certificateArn`,
    run: async (aws, { domain }) => {
      const { Certificate } = await aws<{ Certificate: Certificate }>(
        `acm describe-certificate --certificate-arn ${domain?.certificateArn}`,
      )
      const { Status, DomainName, SubjectAlternativeNames = [] } = Certificate
      const names = [DomainName, ...SubjectAlternativeNames]
      const covers = names.some(
        (name) => name === domain?.name || name === domain?.name.replace(/^[^.]+/, '*'),
      )
      return {
        isReady: Status === 'ISSUED' && covers,
        found: `the certificate for ${names.join(', ')} is ${Status}`,
      }
    },
  },
  {
    name: 'hosted zone',
    appliesTo: ({ domain }) => domain?.hostedZone !== undefined,
    todo: ({ domain }) =>
      `set hostedZoneId and hostedZoneName to a public zone of Route 53 with ${domain?.name}, or remove both and create the CNAME record yourself`,
    run: async (aws, { domain }) => {
      const { HostedZone } = await aws<{ HostedZone: { Name: string; Config: { PrivateZone: boolean } } }>(
        `route53 get-hosted-zone --id ${domain?.hostedZone?.id}`,
      )
      const { Name, Config } = HostedZone
      return {
        isReady: Name === `${domain?.hostedZone?.name}.` && !Config.PrivateZone,
        found: `the zone ${Name} is ${Config.PrivateZone ? 'private' : 'public'}`,
      }
    },
  },
  {
    name: 'secret of the canary',
    appliesTo: ({ monitoring: { canary } }) => canary !== undefined,
    todo: ({ name }) =>
      `leave canaryMinutes out until a test clinic exists, then aws secretsmanager create-secret --name ${canaryName(name)} --secret-string "Developer KEY:SECRET"`,
    run: async (aws, { name }) => {
      await aws(`secretsmanager describe-secret --secret-id ${canaryName(name)}`)
      return { isReady: true, found: `${canaryName(name)} exists` }
    },
  },
  {
    name: 'CloudTrail',
    todo: () =>
      'create a trail of management events, or start its logging: EventBridge gets calls such as the deletion of a key only then',
    run: async (aws) => {
      const { trailList } = await aws<{ trailList: { TrailARN: string }[] }>('cloudtrail describe-trails')
      const statusOf = ({ TrailARN }: { TrailARN: string }) =>
        aws<{ IsLogging: boolean }>(`cloudtrail get-trail-status --name ${TrailARN}`)
      const logging = (await Promise.all(trailList.map(statusOf))).filter(({ IsLogging }) => IsLogging).length
      return { isReady: logging > 0, found: `${logging} of ${trailList.length} trails log` }
    },
  },
]

const senderDomain = ({ messaging: { emailFrom } }: StageSettings): string =>
  emailFrom.split('@').at(-1) ?? ''

/** Runs the checks that apply to the stage. One that fails to run is a finding, too. */
export async function runChecks(aws: Aws, stage: StageSettings): Promise<CheckResult[]> {
  const account = await runCheck(ACCOUNT)
  if (account.todo !== undefined) return [account]
  const checks = CHECKS.filter(({ appliesTo = () => true }) => appliesTo(stage))
  return [account, ...(await Promise.all(checks.map(runCheck)))]

  async function runCheck({ name, todo, run }: Check): Promise<CheckResult> {
    try {
      const { isReady, found, todo: ofOutcome = todo(stage) } = await run(aws, stage)
      return { name, found, ...(!isReady && { todo: ofOutcome }) }
    } catch (error) {
      const found = error instanceof Error ? error.message : String(error)
      const isDenied = /AccessDenied|not authorized/i.test(found)
      return {
        name,
        found,
        todo: isDenied ? 'sign in with a role that may make this call' : todo(stage, found),
      }
    }
  }
}
