import { describe, expect, it } from 'vitest'
import { stageSettings } from '../../infra/stages.ts'
import { templateOf } from '../support/template.ts'
import { dev } from './expected-grants.ts'

const prod = templateOf('prod')

describe('the table', () => {
  const properties = {
    BillingMode: 'PAY_PER_REQUEST',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    // What was written, not what it says: nothing of a patient is in the stream.
    StreamSpecification: { StreamViewType: 'KEYS_ONLY' },
    TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
    SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
  }

  it('keeps its data in production, also when the stack goes', () => {
    prod.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Retain',
      Properties: { ...properties, DeletionProtectionEnabled: true },
    })
  })

  it('goes with the stack in development', () => {
    dev.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Delete',
      Properties: { ...properties, DeletionProtectionEnabled: false },
    })
  })
})

it('names the stages there are when asked for another', () => {
  expect(() => stageSettings('staging')).toThrow(
    'There is no stage "staging". Choose one with -c stage=dev|prod.',
  )
})

describe('the senders’ names', () => {
  it('are what the deployment says', () => {
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
  ])('are refused: %j as the address of mail', (emailFrom) => {
    expect(() => stageSettings('dev', { emailFrom })).toThrow(/^emailFrom is no address/)
  })

  it.each(['', 'TwelveLetter', 'Praxis Nord', 'Zahnärzte', 'Praxis-1', '+4930123456', 'Praxis\n', '12345'])(
    'are refused: %j as the sender of SMS',
    (smsSenderId) => {
      expect(() => stageSettings('dev', { smsSenderId })).toThrow(/^smsSenderId must have/)
    },
  )
})
