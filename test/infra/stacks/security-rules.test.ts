import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RegoEngine, TemplateFile } from '@aws/cloudformation-validate'
import { App, Stack, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks, HIPAASecurityChecks } from 'cdk-nag'
import { afterAll, expect, inject, it } from 'vitest'
import { SMS_RECEIPTS_STACK } from '../../../infra/settings/names.ts'
import { COMBINATIONS, type Combination } from '../../support/combinations.ts'
import { rounds } from '../../support/scale.ts'
import { addCombination, combinedTemplates } from '../../support/template.ts'

/** Rules of the AWS Solutions and HIPAA packs that the service breaks on purpose, each with its reason. */
const SERVICE: Record<string, string> = {
  'AwsSolutions-APIG2': 'Requests are validated in the function, which names the field; the gateway cannot.',
  'AwsSolutions-APIG3':
    'Development has no web ACL unless its stage asks for one: it costs, and test clinics need none.',
  'AwsSolutions-APIG6': 'Execution logs would hold patients; access logs and our own lines do not.',
  'AwsSolutions-IAM4': 'API Gateway’s own policy for writing access logs.',
  'AwsSolutions-IAM5':
    'kms:GenerateDataKey* and kms:ReEncrypt* are the two families DynamoDB documents; keys are bound by condition. dynamodb:ListStreams knows no narrower resource. SES checks identities of recipients too; a condition holds the sender. The worker of maintenance reconciles restored tables, whose names begin with the name of the table.',
  'AwsSolutions-S1':
    'The only bucket holds the access trail; a log of its readers is an account’s CloudTrail.',
  'AwsSolutions-SQS3':
    'The queue of failed fan-outs is itself a queue of dead letters of the stream, which the rule does not know.',
  'HIPAA.Security-APIGWCacheEnabledAndEncrypted':
    'Nothing is cached: revocation and new records must show at once.',
  'HIPAA.Security-APIGWExecutionLoggingEnabled': 'Execution logs would hold patients.',
  'HIPAA.Security-APIGWSSLEnabled': 'Client certificates are for HTTP backends; ours are Lambda functions.',
  'HIPAA.Security-APIGWXrayEnabled': 'One log line a request has the times; traces would be a second copy.',
  'HIPAA.Security-CloudWatchLogGroupEncrypted':
    'Log lines hold ids of the access trail at most, and CloudWatch encrypts them with its own key.',
  'HIPAA.Security-DynamoDBInBackupPlan':
    'Point-in-time recovery is on; `-c backups=on` adds a plan, in a stack that the rule does not see.',
  'HIPAA.Security-IAMNoInlinePolicy': 'A grant that belongs to one function lives and dies with its role.',
  'HIPAA.Security-LambdaConcurrency':
    'The gateway’s throttle and each credential’s rate bound the endpoints, each queue’s own concurrency its consumer, the stream’s shards the fan-out; sweeps come once a minute.',
  'HIPAA.Security-LambdaDLQ':
    'Endpoints are invoked synchronously; queues have dead letters of their own; the next sweep does what one could not, and what the fan-out failed at: an announced event stays until it has its place. A receipt of SMS that failed three times is lost: its message stays `sent`.',
  'HIPAA.Security-LambdaInsideVPC':
    'The functions reach DynamoDB, SQS, SNS and SES, over TLS and by IAM. What delivers events reaches integrators’ addresses, each checked to be public before it is connected to: there is nothing private that a network of its own could keep it from.',
  'HIPAA.Security-S3BucketLoggingEnabled':
    'The only bucket holds the access trail; a log of its readers is an account’s CloudTrail.',
  'HIPAA.Security-S3DefaultEncryptionKMS':
    'The objects of the access trail are locked; without a key of the account, no deletion of a key can make them unreadable.',
  'HIPAA.Security-S3BucketReplicationEnabled':
    'A second copy in another region is an account’s choice; the lock keeps the first.',
  'HIPAA.Security-WAFv2LoggingEnabled':
    'The log of a web ACL holds queries and headers, and so names of patients and secrets.',
}

/** The same of the opt-in stack. */
const SMS_RECEIPTS: Record<string, string> = {
  'AwsSolutions-IAM4':
    'The CDK’s own policy for its functions, which make the one call to SNS and set retentions.',
  'AwsSolutions-IAM5':
    'sns:SetSMSAttributes is of the whole account: it knows no narrower resource. The CDK’s own function sets the retention of any log group.',
  'HIPAA.Security-IAMNoInlinePolicy': 'A grant that belongs to one role lives and dies with it.',
  'HIPAA.Security-LambdaConcurrency': 'CloudFormation calls it when the stack is made, changed or removed.',
  'HIPAA.Security-LambdaDLQ': 'CloudFormation waits for its answer.',
  'HIPAA.Security-LambdaInsideVPC': 'It reaches SNS only, over TLS and by IAM.',
}

type Report = {
  pluginReports: { violations: { ruleName: string; violatingConstructs: { constructPath: string }[] }[] }[]
}

/** The rules that each stack of a combination breaks, and what the validator says about its template. */
function check(combination: Combination): Map<string, { broken: string[]; invalid: string[] }> {
  const folder = mkdtempSync(join(inject('runFolder'), 'nag-'))
  const app = new App({ outdir: folder })
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new HIPAASecurityChecks(app))
  addCombination(combination, app)
  const stderr = process.stderr.write
  process.stderr.write = () => true
  try {
    // Findings make it throw; the report has them.
    app.synth()
  } catch {
  } finally {
    process.stderr.write = stderr
  }
  const { pluginReports } = JSON.parse(readFileSync(join(folder, 'validation-report.json'), 'utf8')) as Report
  const violations = pluginReports.flatMap(({ violations }) => violations)
  const stacks = app.node.children.filter(Stack.isStack).map(({ stackName }) => stackName)
  return new Map(
    stacks.map((stack) => {
      const broken = violations
        .filter(({ violatingConstructs }) =>
          violatingConstructs.some(({ constructPath }) => constructPath.startsWith(`${stack}/`)),
        )
        .map(({ ruleName }) => ruleName.replace(/\[.*/, ''))
      return [stack, { broken, invalid: invalidIn(join(folder, `${stack}.template.json`)) }]
    }),
  )
}

/** Warnings of the validator that are accepted, each with its reason. */
const ACCEPTED_DIAGNOSTICS: Record<string, string> = {
  W3005: 'The CDK’s own habit of writing DependsOn next to a reference.',
  W9002:
    'The ARN of a log group that SNS creates. It is built of region and account, which the rule does not see.',
  W9013: 'The ARN of the domain’s certificate is a setting of a stage that belongs to one account.',
}

// Half a second to make.
const validator = new RegoEngine()
afterAll(() => validator.free())

const invalidIn = (template: string): string[] =>
  validator
    .validateStandard(new TemplateFile(template))
    .diagnostics.filter(({ severity, ruleId }) => !/^info/i.test(severity) && !ACCEPTED_DIAGNOSTICS[ruleId])
    .map(({ ruleId, severity, message }) => `${severity} ${ruleId}: ${message}`)

/** Digests of the templates that are checked. A combination whose stacks all are in others need not be checked again. */
const checked = new Set<string>()
const digest = (template: object): string =>
  createHash('sha256').update(JSON.stringify(template)).digest('hex')

const brokenByAny = { service: new Set<string>(), smsReceipts: new Set<string>() }

// Each costs seconds. The first has no option, the last is of production with all of them.
const CHECKED = COMBINATIONS.filter((_, at) => rounds(0, 1) || at === 0 || at === COMBINATIONS.length - 1)

it.each(CHECKED.map((combination) => [combination.name, combination] as const))(
  '%s: every stack is a valid template and breaks no security rule but those accepted',
  (_name, combination) => {
    const templates = Object.values(combinedTemplates(combination)).map(digest)
    if (templates.every((template) => checked.has(template))) return
    for (const template of templates) checked.add(template)
    for (const [stack, { broken, invalid }] of check(combination)) {
      const part = stack === SMS_RECEIPTS_STACK ? 'smsReceipts' : 'service'
      const accepted = part === 'service' ? SERVICE : SMS_RECEIPTS
      expect([stack, broken.filter((rule) => !accepted[rule])]).toEqual([stack, []])
      expect([stack, invalid]).toEqual([stack, []])
      for (const rule of broken) brokenByAny[part].add(rule)
    }
  },
)

it('accepts no rule that no combination breaks', () => {
  expect([...brokenByAny.service].sort()).toEqual(Object.keys(SERVICE).sort())
  expect([...brokenByAny.smsReceipts].sort()).toEqual(Object.keys(SMS_RECEIPTS).sort())
})
