/** The checks of an account, with responses in the form that the AWS CLI documents. They have not been run against AWS. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { type Aws, CHECKS, runChecks } from '../../../bin/preflight/checks.ts'
import { settingsOf } from '../../support/template.ts'

const SETTINGS = {
  domain: 'api.praxis-nord.de',
  certificateArn: 'arn:aws:acm:eu-central-1:111122223333:certificate/0-1',
  hostedZoneId: 'Z0123456789',
  hostedZoneName: 'praxis-nord.de',
  canaryMinutes: '5',
  smsSpendLimit: '200',
  backups: 'on',
  backupCopyRegion: 'eu-west-1',
}
const stage = settingsOf('prod', SETTINGS)
const TRAIL = 'arn:aws:cloudtrail:eu-central-1:111122223333:trail/management'
const TRAIL_STATUS = `cloudtrail get-trail-status --name ${TRAIL}`
const VERSION = 'ssm get-parameter --name /cdk-bootstrap/hnb659fds/version'

const SENDER = 'sesv2 get-email-identity --email-identity praxis-nord.de'
const CERTIFICATE = `acm describe-certificate --certificate-arn ${SETTINGS.certificateArn}`
const ZONE = 'route53 get-hosted-zone --id Z0123456789'
const READY_SES = {
  ProductionAccessEnabled: true,
  SendingEnabled: true,
  SendQuota: { Max24HourSend: 50000, MaxSendRate: 14, SentLast24Hours: 0 },
}
const certified = (DomainName: string) => ({ Certificate: { Status: 'ISSUED', DomainName } })
const zoned = (PrivateZone: boolean) => ({ HostedZone: { Name: 'praxis-nord.de.', Config: { PrivateZone } } })
const throttled = (rateLimit: number, burstLimit: number) => ({ throttleSettings: { rateLimit, burstLimit } })
const units = (write: number) => ({ TableMaxReadCapacityUnits: 40000, TableMaxWriteCapacityUnits: write })
const bootstrapped = (Value: string) => ({ Parameter: { Value } })

/** An account that is ready, by the command. */
const READY: Record<string, unknown> = {
  'sts get-caller-identity': { Account: '111122223333' },
  [VERSION]: bootstrapped('21'),
  [`${VERSION} in eu-west-1`]: bootstrapped('21'),
  'lambda get-account-settings': { AccountLimit: { ConcurrentExecutions: 1000 } },
  'apigateway get-account': throttled(10_000, 5000),
  'dynamodb describe-limits': units(40_000),
  'sesv2 get-account': READY_SES,
  [SENDER]: { VerifiedForSendingStatus: true },
  'sns get-sms-sandbox-account-status': { IsInSandbox: false },
  'sns get-sms-attributes': { attributes: { MonthlySpendLimit: '200' } },
  [CERTIFICATE]: certified('*.praxis-nord.de'),
  [ZONE]: zoned(false),
  'secretsmanager describe-secret --secret-id clinic-prod-canary': { Name: 'clinic-prod-canary' },
  'cloudtrail describe-trails': { trailList: [{ Name: 'management', TrailARN: TRAIL }] },
  [TRAIL_STATUS]: { IsLogging: true },
}

const findings = (account: Record<string, unknown>, checked = stage, error = 'An error occurred') => {
  const aws: Aws = async <Response>(command: string, region?: string) => {
    const key = region ? `${command} in ${region}` : command
    if (key in account) return account[key] as Response
    throw new Error(error)
  }
  return runChecks(aws, checked)
}

const toDo = async (account: Record<string, unknown>) =>
  (await findings(account)).filter(({ todo }) => todo !== undefined).map(({ name }) => name)

describe('npm run preflight', () => {
  const SIGN_IN = /^sign in to 111122223333: /
  const SES = ['SES account', 'sesv2 get-account'] as const
  it('finds nothing to do in an account that is ready', async () => {
    expect(await toDo(READY)).toEqual([])
  })

  it.each<[string, string, unknown]>([
    ['bootstrap', VERSION, bootstrapped('5')],
    ['bootstrap of the region of backup copies', `${VERSION} in eu-west-1`, bootstrapped('5')],
    ['Lambda concurrency', 'lambda get-account-settings', { AccountLimit: { ConcurrentExecutions: 10 } }],
    ['requests to API Gateway', 'apigateway get-account', throttled(2500, 250)],
    ['units of a table', 'dynamodb describe-limits', units(10_000)],
    [...SES, { ...READY_SES, ProductionAccessEnabled: false }],
    [...SES, { ...READY_SES, SendingEnabled: false }],
    [...SES, { ...READY_SES, SendQuota: { MaxSendRate: 1 } }],
    ['email sender', SENDER, { VerifiedForSendingStatus: false }],
    ['SMS sandbox', 'sns get-sms-sandbox-account-status', { IsInSandbox: true }],
    ['SMS spending limit', 'sns get-sms-attributes', { attributes: {} }],
    ['certificate', CERTIFICATE, certified('praxis-sud.de')],
    ['hosted zone', ZONE, zoned(true)],
    ['CloudTrail', 'cloudtrail describe-trails', { trailList: [] }],
    ['CloudTrail', TRAIL_STATUS, { IsLogging: false }],
  ])('says what to do about the %s: %s returns %j', async (name, command, response) => {
    expect(await toDo({ ...READY, [command]: response })).toEqual([name])
  })

  it.each<[string, Record<string, unknown>]>([
    ['another account', { ...READY, 'sts get-caller-identity': { Account: '999922223333' } }],
    ['no account', {}],
  ])('reads nothing else if the shell is signed in to %s', async (_, account) => {
    expect(await toDo(account)).toEqual(['account'])
  })

  it.each([
    ['there is no AWS CLI', 'spawn aws ENOENT', /^install the AWS CLI$/],
    ['there are no credentials', 'Unable to locate credentials.', SIGN_IN],
    ['the credentials have expired', 'Token has expired and refresh failed', SIGN_IN],
    [
      'the region does not exist',
      'Could not connect to the endpoint URL: "https://sts.eu-centra-1.amazonaws.com/"',
      /^set region, which is eu-central-1,/,
    ],
  ])('says what to do if %s', async (_what, error, todo) => {
    expect(await findings({}, stage, error)).toEqual([
      { name: 'account', found: error, todo: expect.stringMatching(todo) },
    ])
  })

  it('reports what does not exist or cannot be read with the command that creates it, and continues', async () => {
    const checked = settingsOf('prod', { ...SETTINGS, bootstrapQualifier: 'clinicprod' })
    const found = await findings({ 'sts get-caller-identity': READY['sts get-caller-identity'] }, checked)
    expect(found.slice(1).map(({ name }) => name)).toEqual(CHECKS.map(({ name }) => name))
    const todo = Object.fromEntries(found.slice(1).map((finding) => [finding.name, finding.todo]))
    expect(todo).toMatchObject({
      bootstrap: expect.stringContaining(
        'npx cdk bootstrap aws://111122223333/eu-central-1 --qualifier clinicprod --toolkit-stack-name CDKToolkit-clinicprod',
      ),
      'bootstrap of the region of backup copies': expect.stringContaining('aws://111122223333/eu-west-1'),
      'email sender': expect.stringContaining('create-email-identity --email-identity praxis-nord.de'),
      'secret of the canary': expect.stringContaining('create-secret --name clinic-prod-canary'),
    })
    expect(Object.values(todo)).not.toContain(undefined)
  })

  it('calls the AWS CLI, and prints the findings', () => {
    const folder = mkdtempSync(join(inject('runFolder'), 'preflight-'))
    const script = '#!/bin/sh\n[ $1 = sts ] && echo \'{"Account":"1"}\' || { echo "no $1" >&2; exit 254; }\n'
    writeFileSync(join(folder, 'aws'), script, { mode: 0o755 })
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` }
    const { status, stdout } = spawnSync(process.execPath, ['bin/preflight.ts', '--stage', 'dev'], {
      env,
      encoding: 'utf8',
    })
    expect(status).toBe(1)
    expect(stdout).toContain('ok     account: the shell is signed in to 1\n')
    expect(stdout).toContain('to do  bootstrap: no ssm\n       npx cdk bootstrap aws://ACCOUNT/REGION\n')
  })

  it('asks for another role if a call is denied', async () => {
    const { 'dynamodb describe-limits': _, ...rest } = READY
    const found = await findings(rest, stage, 'An error occurred (AccessDeniedException)')
    expect(found.flatMap(({ todo = [] }) => todo)).toEqual(['sign in with a role that may make this call'])
  })
})
