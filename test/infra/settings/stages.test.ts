import { globSync, readFileSync } from 'node:fs'
import { parse } from 'node:path'
import { App, Stack } from 'aws-cdk-lib'
import { Match } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { LOCAL_SETTINGS } from '../../../infra/local/settings.ts'
import type { Settings } from '../../../infra/settings/settings.ts'
import {
  canShareAccount,
  settingsIn,
  settingsOfFile,
  stageSettings,
  stageWarnings,
} from '../../../infra/settings/stages.ts'
import { addStacksOf, settingsOf, templateOf } from '../../support/template.ts'
import { dev } from '../stacks/expected-template.ts'

const prod = templateOf('prod')

const FILE = { kind: 'development', emailFrom: 'mail@praxis-nord.de', smsSenderId: 'Praxis' }

describe('the table', () => {
  const properties = {
    BillingMode: 'PAY_PER_REQUEST',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    // Keys only, so that no patient data is in the stream.
    StreamSpecification: { StreamViewType: 'KEYS_ONLY' },
    TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
    SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
  }

  it('is retained in production when the stack is deleted', () => {
    prod.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
      Properties: { ...properties, DeletionProtectionEnabled: false },
    })
  })

  it('is deleted with the stack in development', () => {
    dev.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Delete',
      Properties: { ...properties, DeletionProtectionEnabled: false },
    })
  })
})

describe('protection', () => {
  it('is off for the first deployment, which could not be rolled back otherwise', () => {
    expect(settingsOf('prod').deletionProtection).toBe(false)
    expect(stageWarnings(settingsOf('prod')).join()).toContain('Set protection to "on"')
  })

  it('keeps the table and the stacks from being deleted when it is on', () => {
    templateOf('prod', { protection: 'on' }).hasResourceProperties('AWS::DynamoDB::Table', {
      DeletionProtectionEnabled: true,
    })
    const app = new App()
    addStacksOf('prod', app, { protection: 'on' })
    const protectedStacks = app.node.children
      .filter(Stack.isStack)
      .filter(({ terminationProtection }) => terminationProtection)
    expect(protectedStacks.map(({ stackName }) => stackName).sort()).toEqual([
      'ClinicDeveloperApi-prod',
      'ClinicDeveloperApi-prod-Data',
      'ClinicDeveloperApi-prod-Workers',
    ])
  })
})

describe('a stage', () => {
  it('of production needs an account, a region and senders, and the error lists all that is wrong', () => {
    const found = (settings: Record<string, unknown>) => {
      try {
        stageSettings('prod', settings)
      } catch (error) {
        return (error as Error).message.split('\n- ')
      }
    }
    const heading = 'Correct the settings in infra/stages/prod.json, or with -c NAME=VALUE:'
    expect(found({})?.sort()).toEqual([
      heading,
      'account is missing',
      'emailFrom is missing',
      'region is missing',
      'smsSenderId is missing',
    ])
    const wrong = {
      account: 7,
      emailFrom: ['x'],
      smsSenderId: '',
      backup: 'on',
      tableKey: 'x',
      warmReads: '1',
    }
    expect(found(wrong)?.sort()).toEqual([
      heading,
      'account must have 12 digits: 7',
      'backup is not a setting',
      'emailFrom must be a text, a number or null: ["x"]',
      'region is missing',
      'smsSenderId must have 1 to 11 letters and digits, at least one a letter: ""',
      'tableKey is a setting of a table: set tableName too',
      'tableKey is not the id of a key: "x"',
      'warmReads and warmWrites must be set together',
      'warmReads must be an integer from 12000: "1"',
    ])
  })

  it('of production is deployed to its own account and region only, and others to those of the shell', () => {
    expect(settingsOf('prod').env).toEqual({ account: '111122223333', region: 'eu-central-1' })
    expect(settingsOf('dev').env).toEqual({ account: undefined, region: undefined })
    const app = new App()
    addStacksOf('prod', app)
    const environments = app
      .synth()
      .stacks.map(({ environment: { account, region } }) => `${account} ${region}`)
    expect(new Set(environments)).toEqual(new Set(['111122223333 eu-central-1']))
    expect(environments).toHaveLength(5)
  })

  it.each([
    [{ account: '1234' }, /- account must have 12 digits/],
    [{ region: 'Frankfurt' }, /- region is not a region of AWS/],
    [{ protection: 'yes' }, /- protection must be "on" or "off"/],
    [{ backups: 'on', backupCopyRegion: 'eu-central-1' }, /- backupCopyRegion must be another region/],
    [
      { domain: 'api.praxis-nord.de', certificateArn: 'arn:aws:acm:us-east-1:111122223333:certificate/0' },
      /- certificateArn must be of the account and region of the stage/,
    ],
    [
      { domain: 'api.praxis-nord.de', certificateArn: 'arn:aws:acm:eu-central-1:999922223333:certificate/0' },
      /- certificateArn must be of the account and region of the stage/,
    ],
    [{ emailFrom: 'clinic@example.com' }, /- emailFrom is of a domain for examples/],
    [{ emailFrom: 'clinic@mail.example' }, /- emailFrom is of a domain for examples/],
  ])('of production is not %j', (settings, message) => {
    expect(() => settingsOf('prod', settings)).toThrow(message)
  })

  it('has the settings of its file, which -c overrides', () => {
    const file = { ...FILE, emailsPerSecond: 50, cell: 'b', domain: null }
    expect(settingsOfFile('eu', file, { cell: 'c', domain: undefined })).toMatchObject({
      cell: 'c',
      domain: undefined,
      messaging: { emailsPerSecond: 50 },
    })
  })

  it.each([
    [{}, 'kind is missing'],
    [{ kind: 'staging' }, 'kind must be development or production: "staging"'],
    [{ ...FILE, emailfrom: 'x' }, 'emailfrom is not a setting'],
    [{ ...FILE, cell: ['a'] }, 'cell must be a text, a number or null: ["a"]'],
  ])('cannot have the file %j', (file, message) => {
    expect(() => settingsOfFile('eu', file, {})).toThrow(message)
  })

  // Its stack would belong to another stage, or the names of its functions would be too long.
  it.each(['Pipeline', 'dev-Data', 'a'.repeat(17)])('cannot be named %s', (name) => {
    expect(() => settingsOfFile(name, FILE, {})).toThrow('a stage is named by')
  })

  it('has the settings that are given with -c, without names of the CDK and of the pipeline', () => {
    const context = {
      stage: 'dev',
      pipelineRepository: 'o/n',
      '@aws-cdk/core:x': true,
      'cli-telemetry': false,
    }
    expect(settingsIn({ ...context, backups: 'on', account: 1 })).toEqual({ backups: 'on', account: 1 })
  })

  it.each(globSync('infra/stages/*'))('in %s has no wrong setting', (file) => {
    const { name, ext } = parse(file)
    expect(ext).toBe('.json')
    const content = JSON.parse(readFileSync(file, 'utf8'))
    const filledIn = { account: '111122223333', region: 'eu-central-1', ...FILE }
    const missing = Object.entries(filledIn).filter(([setting]) => (content[setting] ?? null) === null)
    expect(() => settingsOfFile(name, content, Object.fromEntries(missing))).not.toThrow()
  })

  it('can share an account with another one unless their files name different accounts', () => {
    const [one, other] = ['111122223333', '444455556666']
    expect(canShareAccount(one, other)).toBe(false)
    expect([
      canShareAccount(one, one),
      canShareAccount(one, undefined),
      canShareAccount(undefined, one),
    ]).toEqual([true, true, true])
  })

  it('can be run locally, whatever its file says about its account', () => {
    const file = {
      kind: 'development',
      account: '111122223333',
      region: 'eu-central-1',
      backups: 'on',
      backupCopyRegion: 'eu-west-1',
      domain: 'api.praxis-nord.de',
      hostedZoneId: 'Z0',
      hostedZoneName: 'praxis-nord.de',
      tableName: 'restored',
      tableStream: '2026-11-22T10:00:00.000',
    }
    const { domain, env, recovery } = settingsOfFile('dev', file, settingsIn(LOCAL_SETTINGS))
    expect(domain).toMatchObject({ name: 'clinic.example', hostedZone: undefined })
    expect(recovery).toEqual({ adoptedTable: undefined, backups: undefined })
    expect(env.region).toBeUndefined()
  })

  it('warns of a sender that SES rejects', () => {
    expect(stageWarnings(settingsOf('dev'))).toEqual([
      'SES will reject all emails: emailFrom is clinic@example.com, of a domain for examples.',
    ])
    expect(stageWarnings(settingsOf('dev', { emailFrom: 'mail@praxis-nord.de' }))).toEqual([])
  })

  it('of production say that the limits of the gateway are guessed, unless they are set', () => {
    const warned = (settings: Settings) =>
      stageWarnings(settingsOf('prod', settings)).some((text) => text.startsWith('Nothing is reserved'))
    expect(warned({})).toBe(true)
    expect(warned({ accountConcurrency: '1000' })).toBe(false)
    expect(warned({ throttleRate: '25' })).toBe(false)
  })
})

it('stageSettings throws an error that names the known stages when the stage is unknown', () => {
  expect(() => stageSettings('staging')).toThrow(
    'Unknown stage "staging". Choose one with -c stage=dev|prod.',
  )
})

describe('the cell', () => {
  it('is taken from the context of the deployment, and an output of the stack', () => {
    expect(settingsOf('prod', { cell: 'eu7' }).cell).toBe('eu7')
    dev.hasOutput('Cell', { Value: 'a' })
  })

  it.each(['', 'A', 'a_b', 'a-b', 'ninechars', ' a'])('rejects %j', (cell) => {
    expect(() => settingsOf('dev', { cell })).toThrow(/- cell must have 1 to 8 lower-case letters and digits/)
  })
})

describe('the rate of emails', () => {
  it('is that of a new account of SES, unless the deployment sets it', () => {
    expect(settingsOf('prod').messaging.emailsPerSecond).toBe(14)
    expect(settingsOf('prod', { emailsPerSecond: '50' }).messaging.emailsPerSecond).toBe(50)
  })

  it.each(['', '0', '-1', '1.5', '14/s', ' 14', '1e3'])('is not %j', (emailsPerSecond) => {
    expect(() => settingsOf('prod', { emailsPerSecond })).toThrow(
      /- emailsPerSecond must be an integer from 1/,
    )
  })
})

it('bills provisioned units with auto scaling when the deployment says how many', () => {
  const template = templateOf('prod', { provisionedReads: '100', provisionedWrites: '200' })
  template.hasResourceProperties('AWS::DynamoDB::Table', {
    ProvisionedThroughput: { ReadCapacityUnits: 100, WriteCapacityUnits: 200 },
  })
  for (const [kind, min] of Object.entries({ Read: 100, Write: 200 }))
    template.hasResourceProperties('AWS::ApplicationAutoScaling::ScalableTarget', {
      ScalableDimension: `dynamodb:table:${kind}CapacityUnits`,
      MinCapacity: min,
      MaxCapacity: 40_000,
    })
  expect(() => settingsOf('prod', { provisionedReads: '100' })).toThrow(
    /- provisionedReads and provisionedWrites must be set together/,
  )
})

it('limits each method of the gateway as the deployment says, in whole bursts', () => {
  const { rate, burst } = settingsOf('prod', { throttleRate: '25', throttleBurst: '5' }).throttle
  expect([rate, burst]).toEqual([25, 5])
  const stages = templateOf('prod', { throttleRate: '25', throttleBurst: '5' }).findResources(
    'AWS::ApiGateway::Stage',
  )
  const bursts = Object.values(stages).flatMap(({ Properties }) =>
    Properties.MethodSettings.map((one: { ThrottlingBurstLimit: number }) => one.ThrottlingBurstLimit),
  )
  expect(new Set(bursts)).toEqual(new Set([5, 3, 1]))
})

describe('the warm throughput of the table', () => {
  it('is that of the deployment, and absent by default', () => {
    const warm = { warmReads: '30000', warmWrites: '10000' }
    templateOf('prod', warm).hasResourceProperties('AWS::DynamoDB::Table', {
      WarmThroughput: { ReadUnitsPerSecond: 30_000, WriteUnitsPerSecond: 10_000 },
    })
    prod.hasResourceProperties('AWS::DynamoDB::Table', { WarmThroughput: Match.absent() })
  })

  it.each([
    [{ warmReads: '12000' }, /- warmReads and warmWrites must be set together/],
    [{ warmWrites: '4000' }, /- warmReads and warmWrites must be set together/],
    [{ warmReads: '11999', warmWrites: '4000' }, /- warmReads must be an integer from 12000/],
    [{ warmReads: '12000', warmWrites: '3999' }, /- warmWrites must be an integer from 4000/],
    [{ warmReads: '12000.5', warmWrites: '4000' }, /- warmReads must be an integer/],
  ])('is not %j', (context, message) => {
    expect(() => settingsOf('prod', context)).toThrow(message)
  })
})

describe('the senders’ names', () => {
  it('are taken from the context of the deployment', () => {
    const { messaging } = settingsOf('prod', { emailFrom: 'mail@praxis-nord.de', smsSenderId: 'Praxis1' })
    expect(messaging).toMatchObject({ emailFrom: 'mail@praxis-nord.de', smsSenderId: 'Praxis1' })
  })

  it('has its domain in punycode', () => {
    const { messaging } = settingsOf('dev', { emailFrom: 'Mail@Müller.de' })
    expect(messaging.emailFrom).toBe('Mail@xn--mller-kva.de')
  })

  it.each([
    '',
    'clinic@127.1',
    'mäil@example.com',
    'a@b@example.com',
    'clinic@example.com\n',
    'Praxis<mail@example.com>',
  ])('reject %j as an email address', (emailFrom) => {
    expect(() => settingsOf('dev', { emailFrom })).toThrow(/- emailFrom is not an email address/)
  })

  it.each(['', 'TwelveLetter', 'Praxis Nord', 'Zahnärzte', 'Praxis-1', '+4930123456', 'Praxis\n', '12345'])(
    'reject %j as an SMS sender id',
    (smsSenderId) => {
      expect(() => settingsOf('dev', { smsSenderId })).toThrow(/- smsSenderId must have/)
    },
  )
})
