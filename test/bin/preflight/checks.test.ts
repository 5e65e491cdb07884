/** The checks of an account, with responses in the form that the AWS CLI documents. They have not been run against AWS. */
import { describe, expect, it } from 'vitest'
import { type Aws, CHECKS, runChecks } from '../../../bin/preflight/checks.ts'
import { retainedBy } from '../../../bin/preflight/teardown.ts'
import { settingsOf } from '../../support/template.ts'

const SETTINGS = {
  domain: 'api.praxis-nord.de',
  certificateArn: 'arn:aws:acm:eu-central-1:111122223333:certificate/0-1',
  canaryMinutes: '5',
  smsSpendLimit: '200',
}
const stage = settingsOf('prod', SETTINGS)

/** An account that is ready, by the command. */
const READY: Record<string, unknown> = {
  'sts get-caller-identity': { Account: '111122223333' },
  'ssm get-parameter --name /cdk-bootstrap/hnb659fds/version': { Parameter: { Value: '21' } },
  'lambda get-account-settings': { AccountLimit: { ConcurrentExecutions: 1000 } },
  'sesv2 get-account': {
    ProductionAccessEnabled: true,
    SendingEnabled: true,
    SendQuota: { Max24HourSend: 50000, MaxSendRate: 14, SentLast24Hours: 0 },
  },
  'sesv2 get-email-identity --email-identity praxis-nord.de': { VerifiedForSendingStatus: true },
  'sns get-sms-sandbox-account-status': { IsInSandbox: false },
  'sns get-sms-attributes': { attributes: { MonthlySpendLimit: '200' } },
  [`acm describe-certificate --certificate-arn ${SETTINGS.certificateArn}`]: {
    Certificate: { Status: 'ISSUED', DomainName: '*.praxis-nord.de' },
  },
  'secretsmanager describe-secret --secret-id clinic-prod-canary': { Name: 'clinic-prod-canary' },
  'cloudtrail describe-trails': { trailList: [{ Name: 'management' }] },
}

const toDo = async (account: Record<string, unknown>) => {
  const aws: Aws = async <Response>(command: string) => {
    if (command in account) return account[command] as Response
    throw new Error(`An error occurred when calling ${command}`)
  }
  const findings = await runChecks(aws, stage)
  return findings.filter(({ todo }) => todo !== undefined).map(({ name }) => name)
}

describe('npm run preflight', () => {
  it('finds nothing to do in an account that is ready', async () => {
    expect(await toDo(READY)).toEqual([])
  })

  it.each<[string, string, unknown]>([
    ['account', 'sts get-caller-identity', { Account: '999922223333' }],
    ['bootstrap', 'ssm get-parameter --name /cdk-bootstrap/hnb659fds/version', { Parameter: { Value: '5' } }],
    ['Lambda concurrency', 'lambda get-account-settings', { AccountLimit: { ConcurrentExecutions: 10 } }],
    [
      'SES account',
      'sesv2 get-account',
      { ...(READY['sesv2 get-account'] as object), ProductionAccessEnabled: false },
    ],
    [
      'SES account',
      'sesv2 get-account',
      { ...(READY['sesv2 get-account'] as object), SendingEnabled: false },
    ],
    [
      'SES account',
      'sesv2 get-account',
      { ...(READY['sesv2 get-account'] as object), SendQuota: { MaxSendRate: 1 } },
    ],
    [
      'email sender',
      'sesv2 get-email-identity --email-identity praxis-nord.de',
      { VerifiedForSendingStatus: false },
    ],
    ['SMS sandbox', 'sns get-sms-sandbox-account-status', { IsInSandbox: true }],
    ['SMS spending limit', 'sns get-sms-attributes', { attributes: {} }],
    [
      'certificate',
      `acm describe-certificate --certificate-arn ${SETTINGS.certificateArn}`,
      { Certificate: { Status: 'ISSUED', DomainName: 'praxis-sud.de' } },
    ],
    ['CloudTrail', 'cloudtrail describe-trails', { trailList: [] }],
  ])('says what to do about the %s: %s returns %j', async (name, command, response) => {
    expect(await toDo({ ...READY, [command]: response })).toEqual([name])
  })

  it('reports what does not exist or cannot be read, and continues', async () => {
    expect(await toDo({})).toEqual(CHECKS.map(({ name }) => name))
  })

  it('lists what a deletion of production leaves, and nothing of development but the trail and the role of API Gateway', () => {
    const types = (lines: string[]) => lines.map((line) => line.split(' ')[1])
    expect(types(retainedBy(stage))).toEqual(
      expect.arrayContaining([
        'AWS::DynamoDB::Table',
        'AWS::KMS::Key',
        'AWS::S3::Bucket',
        'AWS::Logs::LogGroup',
      ]),
    )
    expect(types(retainedBy(settingsOf('dev'))).sort()).toEqual([
      'AWS::ApiGateway::Account',
      'AWS::IAM::Role',
      'AWS::S3::Bucket',
    ])
  })
})
