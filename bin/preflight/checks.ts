import { canaryName } from '../../infra/settings/names.ts'
import { DEFAULT_CONCURRENCY, type StageSettings } from '../../infra/settings/stages.ts'

/** Runs a read-only command of the AWS CLI in the region of the stage. @throws Error with what the command printed */
export type Aws = <Response>(command: string) => Promise<Response>

/** What a check found: a fact, or what to do about it. */
export type Finding = { readonly found: string; readonly todo?: string }

type Check = {
  readonly name: string
  readonly appliesTo?: (stage: StageSettings) => boolean
  readonly run: (aws: Aws, stage: StageSettings) => Promise<Finding>
}

type SesAccount = {
  readonly ProductionAccessEnabled: boolean
  readonly SendingEnabled: boolean
  readonly SendQuota: { readonly MaxSendRate: number }
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

const finding = (isRight: boolean, found: string, todo: string): Finding =>
  isRight ? { found } : { found, todo }

/** THE CHECKS, in the order in which docs/operate/going-to-production.md goes through them. */
export const CHECKS: readonly Check[] = [
  {
    name: 'account',
    run: async (aws, { env: { account } }) => {
      const { Account } = await aws<{ Account: string }>('sts get-caller-identity')
      return finding(
        account === undefined || Account === account,
        `the shell is signed in to ${Account}`,
        `sign in to ${account}, the account of the stage`,
      )
    },
  },
  {
    name: 'bootstrap',
    run: async (aws, { bootstrapQualifier, env: { account, region } }) => {
      const name = `/cdk-bootstrap/${bootstrapQualifier}/version`
      const { Parameter } = await aws<{ Parameter: { Value: string } }>(`ssm get-parameter --name ${name}`)
      return finding(
        Number(Parameter.Value) >= MIN_BOOTSTRAP_VERSION,
        `the bootstrap stack has version ${Parameter.Value}`,
        `npx cdk bootstrap aws://${account}/${region}`,
      )
    },
  },
  {
    name: 'Lambda concurrency',
    run: async (aws, { servedConcurrency = MIN_CONCURRENCY }) => {
      const { AccountLimit } = await aws<{ AccountLimit: { ConcurrentExecutions: number } }>(
        'lambda get-account-settings',
      )
      const limit = AccountLimit.ConcurrentExecutions
      return finding(
        limit >= servedConcurrency,
        `${limit} functions may run at a time`,
        `ask for ${Math.max(DEFAULT_CONCURRENCY, servedConcurrency)} in Service Quotas, and set accountConcurrency, or throttleRate and throttleBurst, to what the limit serves`,
      )
    },
  },
  {
    name: 'SES account',
    run: async (aws, { messaging: { emailsPerSecond } }) => {
      const { ProductionAccessEnabled, SendingEnabled, SendQuota } =
        await aws<SesAccount>('sesv2 get-account')
      const rate = SendQuota.MaxSendRate
      if (!ProductionAccessEnabled)
        return { found: 'the account is in the sandbox', todo: 'ask for production access (step 2)' }
      if (!SendingEnabled)
        return { found: 'sending is paused', todo: 'respond to the review in the console of SES' }
      return finding(
        rate >= emailsPerSecond,
        `SES sends ${rate} emails a second`,
        `set emailsPerSecond, which is ${emailsPerSecond}, to ${Math.floor(rate)}, or ask for a higher rate`,
      )
    },
  },
  {
    name: 'email sender',
    run: async (aws, { messaging: { emailFrom } }) => {
      const domain = emailFrom.split('@').at(-1)
      const { VerifiedForSendingStatus } = await aws<{ VerifiedForSendingStatus: boolean }>(
        `sesv2 get-email-identity --email-identity ${domain}`,
      )
      return finding(
        VerifiedForSendingStatus,
        `${domain} is ${VerifiedForSendingStatus ? '' : 'not '}verified`,
        'publish the CNAME records of step 2',
      )
    },
  },
  {
    name: 'SMS sandbox',
    run: async (aws) => {
      const { IsInSandbox } = await aws<{ IsInSandbox: boolean }>('sns get-sms-sandbox-account-status')
      return finding(
        !IsInSandbox,
        `the account is ${IsInSandbox ? '' : 'not '}in the SMS sandbox`,
        'leave the sandbox in the console of SNS (step 3)',
      )
    },
  },
  {
    name: 'SMS spending limit',
    run: async (aws, { monitoring: { smsSpendLimit } }) => {
      const { attributes } = await aws<{ attributes: { MonthlySpendLimit?: string } }>(
        'sns get-sms-attributes',
      )
      // SNS returns no limit that was never set: it is 1 USD then.
      const limit = Number(attributes.MonthlySpendLimit ?? 1)
      return finding(
        limit === smsSpendLimit,
        `SNS spends at most ${limit} USD a month; smsSpendLimit is ${smsSpendLimit}`,
        'set both to what the clinics send (step 3): an alarm compares with smsSpendLimit',
      )
    },
  },
  {
    name: 'certificate',
    appliesTo: ({ domain }) => domain !== undefined,
    run: async (aws, { domain }) => {
      const { Certificate } = await aws<{ Certificate: Certificate }>(
        `acm describe-certificate --certificate-arn ${domain?.certificateArn}`,
      )
      const { Status, DomainName, SubjectAlternativeNames = [] } = Certificate
      const names = [DomainName, ...SubjectAlternativeNames]
      const covers = names.some(
        (name) => name === domain?.name || name === domain?.name.replace(/^[^.]+/, '*'),
      )
      return finding(
        Status === 'ISSUED' && covers,
        `the certificate for ${names.join(', ')} is ${Status}`,
        `issue a certificate for ${domain?.name} in ACM, in the region of the stage`,
      )
    },
  },
  {
    name: 'secret of the canary',
    appliesTo: ({ monitoring: { canary } }) => canary !== undefined,
    run: async (aws, { name }) => {
      await aws(`secretsmanager describe-secret --secret-id ${canaryName(name)}`)
      return { found: `${canaryName(name)} exists` }
    },
  },
  {
    name: 'CloudTrail',
    run: async (aws) => {
      const { trailList } = await aws<{ trailList: unknown[] }>('cloudtrail describe-trails')
      return finding(
        trailList.length > 0,
        `the account has ${trailList.length} trails`,
        'create a trail of management events: EventBridge gets calls such as the deletion of a key only then',
      )
    },
  },
]

/** Runs the checks that apply to the stage. One that fails to run is a finding, too. */
export async function runChecks(aws: Aws, stage: StageSettings): Promise<(Finding & { name: string })[]> {
  const checks = CHECKS.filter(({ appliesTo = () => true }) => appliesTo(stage))
  return Promise.all(
    checks.map(async ({ name, run }) => {
      try {
        return { name, ...(await run(aws, stage)) }
      } catch (error) {
        const found = error instanceof Error ? error.message : String(error)
        return {
          name,
          found,
          todo: 'if it does not exist, create it; if it was denied, use a role that may read it',
        }
      }
    }),
  )
}
