import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { RegoEngine, TemplateFile } from '@aws/cloudformation-validate'
import { App, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks, HIPAASecurityChecks } from 'cdk-nag'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { stackOf } from '../support/template.ts'

/** Rules of the AWS Solutions and HIPAA packs that the stack breaks on purpose, each with its reason. */
const ACCEPTED: Record<string, string> = {
  'AwsSolutions-APIG2': 'Requests are validated in the function, which names the field; the gateway cannot.',
  'AwsSolutions-APIG3':
    'A web ACL is an account’s choice and cost; credentials, scopes and rate limits do not need it.',
  'AwsSolutions-APIG4':
    'The function authorizes: the Developer scheme, with an answer the gateway could not give.',
  'AwsSolutions-APIG6': 'Execution logs would hold patients; access logs and our own lines do not.',
  'AwsSolutions-COG4': 'Callers are programs with credentials, not people in a user pool.',
  'AwsSolutions-IAM4': 'API Gateway’s own policy for writing access logs.',
  'AwsSolutions-IAM5':
    'kms:GenerateDataKey* and kms:ReEncrypt* are the two families DynamoDB documents; keys are bound by condition.',
  'HIPAA.Security-APIGWCacheEnabledAndEncrypted':
    'Nothing is cached: revocation and new records must show at once.',
  'HIPAA.Security-APIGWExecutionLoggingEnabled': 'Execution logs would hold patients.',
  'HIPAA.Security-APIGWSSLEnabled': 'Client certificates are for HTTP backends; ours are Lambda functions.',
  'HIPAA.Security-APIGWXrayEnabled': 'One log line a request has the times; traces would be a second copy.',
  'HIPAA.Security-CloudWatchLogGroupEncrypted':
    'Log lines hold nothing of a patient, and CloudWatch encrypts them with its own key.',
  'HIPAA.Security-DynamoDBInBackupPlan':
    'Point-in-time recovery is on; a backup plan belongs to the account.',
  'HIPAA.Security-IAMNoInlinePolicy': 'A grant that belongs to one function lives and dies with its role.',
  'HIPAA.Security-LambdaConcurrency': 'The gateway’s throttle and each credential’s rate bound concurrency.',
  'HIPAA.Security-LambdaDLQ': 'Invoked by the gateway only, synchronously: there is nobody to redeliver to.',
  'HIPAA.Security-LambdaInsideVPC': 'The functions reach DynamoDB only, over TLS and by IAM.',
}

const folder = mkdtempSync(join(tmpdir(), 'nag-'))

beforeAll(() => {
  const app = new App({ outdir: folder })
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new HIPAASecurityChecks(app))
  stackOf('prod', app)
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

it('breaks no security rule but those accepted, and accepts none for nothing', () => {
  const { pluginReports } = JSON.parse(readFileSync(join(folder, 'validation-report.json'), 'utf8')) as {
    pluginReports: { violations: { ruleName: string }[] }[]
  }
  const broken = pluginReports.flatMap(({ violations }) =>
    violations.map(({ ruleName }) => ruleName.replace(/\[.*/, '')),
  )
  expect([...new Set(broken)].sort()).toEqual(Object.keys(ACCEPTED).sort())
})

it('is a valid template', () => {
  const engine = new RegoEngine()
  try {
    const { diagnostics } = engine.validateStandard(
      new TemplateFile(join(folder, 'ClinicDeveloperApi-prod.template.json')),
    )
    // W3005 is the CDK's own habit of writing DependsOn beside a reference.
    const serious = diagnostics.filter(
      ({ severity, ruleId }) => !/^info/i.test(severity) && ruleId !== 'W3005',
    )
    expect(serious.map(({ ruleId, severity, message }) => `${severity} ${ruleId}: ${message}`)).toEqual([])
  } finally {
    engine.free()
  }
})
