import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RegoEngine, TemplateFile } from '@aws/cloudformation-validate'
import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks, HIPAASecurityChecks } from 'cdk-nag'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { receiptsStackOf } from '../support/template.ts'

/** Rules of the AWS Solutions and HIPAA packs that the service breaks on purpose, each with its reason. */
const SERVICE: Record<string, string> = {
  'AwsSolutions-APIG2': 'Requests are validated in the function, which names the field; the gateway cannot.',
  'AwsSolutions-APIG3':
    'A web ACL is an account’s choice and cost; credentials, scopes and rate limits do not need it.',
  'AwsSolutions-APIG4':
    'The function authorizes: the Developer scheme, with an answer the gateway could not give.',
  'AwsSolutions-APIG6': 'Execution logs would hold patients; access logs and our own lines do not.',
  'AwsSolutions-COG4': 'Callers are programs with credentials, not people in a user pool.',
  'AwsSolutions-IAM4': 'API Gateway’s own policy for writing access logs.',
  'AwsSolutions-IAM5':
    'kms:GenerateDataKey* and kms:ReEncrypt* are the two families DynamoDB documents; keys are bound by condition. dynamodb:ListStreams knows no narrower resource.',
  'AwsSolutions-S1':
    'The only bucket holds the access trail; a log of its readers is an account’s CloudTrail.',
  'AwsSolutions-SQS3':
    'The queue of failed fan-outs is itself one of dead letters, those of the stream, which the rule does not know.',
  'HIPAA.Security-APIGWCacheEnabledAndEncrypted':
    'Nothing is cached: revocation and new records must show at once.',
  'HIPAA.Security-APIGWExecutionLoggingEnabled': 'Execution logs would hold patients.',
  'HIPAA.Security-APIGWSSLEnabled': 'Client certificates are for HTTP backends; ours are Lambda functions.',
  'HIPAA.Security-APIGWXrayEnabled': 'One log line a request has the times; traces would be a second copy.',
  'HIPAA.Security-CloudWatchAlarmAction': 'Whom an alarm notifies, and how, is an account’s choice.',
  'HIPAA.Security-CloudWatchLogGroupEncrypted':
    'Log lines hold ids at most, those of the access trail, and CloudWatch encrypts them with its own key.',
  'HIPAA.Security-DynamoDBInBackupPlan':
    'Point-in-time recovery is on; a backup plan belongs to the account.',
  'HIPAA.Security-IAMNoInlinePolicy': 'A grant that belongs to one function lives and dies with its role.',
  'HIPAA.Security-LambdaConcurrency':
    'The gateway’s throttle and each credential’s rate bound the endpoints, each queue’s own concurrency its consumer, the stream’s shards the fan-out; sweeps come once a minute.',
  'HIPAA.Security-LambdaDLQ':
    'Endpoints are invoked synchronously; queues have dead letters of their own; the next sweep does what one could not, and what the fan-out failed at: an announced event stays until it has its place. A receipt of SMS that failed three times is lost: its message stays `sent`.',
  'HIPAA.Security-LambdaInsideVPC':
    'The functions reach DynamoDB, SQS, SNS and SES, over TLS and by IAM. What delivers events reaches integrators’ addresses, each checked to be public before it is connected to: there is nothing private that a network of its own could keep it from.',
  'HIPAA.Security-S3BucketLoggingEnabled':
    'The only bucket holds the access trail; a log of its readers is an account’s CloudTrail.',
  'HIPAA.Security-S3BucketReplicationEnabled':
    'A second copy in another region is an account’s choice; the lock keeps the first.',
}

/** The same of the opt-in stack. */
const SMS_RECEIPTS: Record<string, string> = {
  'AwsSolutions-IAM4': 'The CDK’s own policy for the function that makes the one call to SNS.',
  'AwsSolutions-IAM5': 'sns:SetSMSAttributes is of the whole account: it knows no narrower resource.',
  'HIPAA.Security-CloudWatchLogGroupEncrypted':
    'SNS writes numbers there, for a day, under CloudWatch’s own key; that is why the stack is opt-in.',
  'HIPAA.Security-IAMNoInlinePolicy': 'A grant that belongs to one role lives and dies with it.',
  'HIPAA.Security-LambdaConcurrency': 'CloudFormation calls it when the stack is made, changed or removed.',
  'HIPAA.Security-LambdaDLQ': 'CloudFormation waits for its answer.',
  'HIPAA.Security-LambdaInsideVPC': 'It reaches SNS only, over TLS and by IAM.',
}

const folder = mkdtempSync(join(tmpdir(), 'nag-'))

beforeAll(() => {
  const app = new App({ outdir: folder })
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new HIPAASecurityChecks(app))
  receiptsStackOf('prod', app)
  const stderr = process.stderr.write
  process.stderr.write = () => true
  try {
    // Findings make it throw; the report has them.
    app.synth()
  } catch {
  } finally {
    process.stderr.write = stderr
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

type Report = {
  pluginReports: { violations: { ruleName: string; violatingConstructs: { constructPath: string }[] }[] }[]
}

it.each([
  ['ClinicDeveloperApi-prod', SERVICE],
  ['ClinicDeveloperApi-prod-SmsReceipts', SMS_RECEIPTS],
])('%s breaks no security rule but those accepted, and accepts none for nothing', (stack, accepted) => {
  const { pluginReports } = JSON.parse(readFileSync(join(folder, 'validation-report.json'), 'utf8')) as Report
  const broken = pluginReports
    .flatMap(({ violations }) => violations)
    .filter(({ violatingConstructs }) =>
      violatingConstructs.some(({ constructPath }) => constructPath.startsWith(`${stack}/`)),
    )
    .map(({ ruleName }) => ruleName.replace(/\[.*/, ''))
  expect([...new Set(broken)].sort()).toEqual(Object.keys(accepted).sort())
})

it.each(['ClinicDeveloperApi-prod', 'ClinicDeveloperApi-prod-SmsReceipts'])(
  '%s is a valid template',
  (stack) => {
    const engine = new RegoEngine()
    try {
      const { diagnostics } = engine.validateStandard(
        new TemplateFile(join(folder, `${stack}.template.json`)),
      )
      // W3005 is the CDK's own habit of writing DependsOn beside a reference.
      const serious = diagnostics.filter(
        ({ severity, ruleId }) => !/^info/i.test(severity) && ruleId !== 'W3005',
      )
      expect(serious.map(({ ruleId, severity, message }) => `${severity} ${ruleId}: ${message}`)).toEqual([])
    } finally {
      engine.free()
    }
  },
)
