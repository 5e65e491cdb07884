import { Match } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { stageSettings } from '../../infra/stages.ts'
import { templateOf } from '../support/template.ts'
import { dev } from './expected-template.ts'

const prod = templateOf('prod')

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
      DeletionPolicy: 'Retain',
      Properties: { ...properties, DeletionProtectionEnabled: true },
    })
  })

  it('is deleted with the stack in development', () => {
    dev.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Delete',
      Properties: { ...properties, DeletionProtectionEnabled: false },
    })
  })
})

it('stageSettings throws an error that names the known stages when the stage is unknown', () => {
  expect(() => stageSettings('staging')).toThrow(
    'Unknown stage "staging". Choose one with -c stage=dev|prod.',
  )
})

describe('the cell', () => {
  it('is taken from the context of the deployment, and an output of the stack', () => {
    expect(stageSettings('prod', { cell: 'eu7' }).cell).toBe('eu7')
    dev.hasOutput('Cell', { Value: 'a' })
  })

  it.each(['', 'A', 'a_b', 'a-b', 'ninechars', ' a'])('rejects %j', (cell) => {
    expect(() => stageSettings('dev', { cell })).toThrow(
      /^cell must have 1 to 8 lower-case letters and digits/,
    )
  })
})

describe('the rate of emails', () => {
  it('is that of a new account of SES, unless the deployment sets it', () => {
    expect(stageSettings('prod').messaging.emailsPerSecond).toBe(14)
    expect(stageSettings('prod', { emailsPerSecond: '50' }).messaging.emailsPerSecond).toBe(50)
  })

  it.each(['', '0', '-1', '1.5', '14/s', ' 14', '1e3'])('is not %j', (emailsPerSecond) => {
    expect(() => stageSettings('prod', { emailsPerSecond })).toThrow(
      /^emailsPerSecond must be an integer from 1/,
    )
  })
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
    [{ warmReads: '12000' }, /^warmReads and warmWrites must be set together/],
    [{ warmWrites: '4000' }, /^warmReads and warmWrites must be set together/],
    [{ warmReads: '11999', warmWrites: '4000' }, /^warmReads must be an integer from 12000/],
    [{ warmReads: '12000', warmWrites: '3999' }, /^warmWrites must be an integer from 4000/],
    [{ warmReads: '12000.5', warmWrites: '4000' }, /^warmReads must be an integer/],
  ])('is not %j', (context, message) => {
    expect(() => stageSettings('prod', context)).toThrow(message)
  })
})

describe('the senders’ names', () => {
  it('are taken from the context of the deployment', () => {
    const { messaging } = stageSettings('prod', { emailFrom: 'mail@praxis-nord.de', smsSenderId: 'Praxis1' })
    expect(messaging).toMatchObject({ emailFrom: 'mail@praxis-nord.de', smsSenderId: 'Praxis1' })
  })

  it.each([
    '',
    'clinic',
    'clinic@',
    '@example.com',
    'a@b@example.com',
    'a b@example.com',
    ' clinic@example.com',
    'clinic@example.com\n',
    'Praxis<mail@example.com>',
    'a@example.com,b@example.com',
    '*@example.com',
  ])('reject %j as an email address', (emailFrom) => {
    expect(() => stageSettings('dev', { emailFrom })).toThrow(/^emailFrom is not an email address/)
  })

  it.each(['', 'TwelveLetter', 'Praxis Nord', 'Zahnärzte', 'Praxis-1', '+4930123456', 'Praxis\n', '12345'])(
    'reject %j as an SMS sender id',
    (smsSenderId) => {
      expect(() => stageSettings('dev', { smsSenderId })).toThrow(/^smsSenderId must have/)
    },
  )
})
