import { Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { SMS_RECEIPTS_STACK, workersStackName } from '../../../infra/settings/names.ts'
import { type Resource, resourcesOf, type Statement, templatesOf } from '../../support/template.ts'
import { arn } from '../stacks/expected-template.ts'

const templates = templatesOf('dev', { smsReceipts: 'on' })
const account = Template.fromJSON(templates[SMS_RECEIPTS_STACK] ?? {})
const workers = Template.fromJSON(templates[workersStackName('dev')] ?? {})

const groupName = (outcome: string) => [
  { Ref: 'AWS::Region' },
  '/',
  { Ref: 'AWS::AccountId' },
  `/DirectPublishToPhoneNumber${outcome}`,
]
const OUTCOMES = ['', '/Failure']
const propertiesOf = (template: Template, type: string) =>
  Object.values(resourcesOf(template, type)).map(({ Properties }) => Properties as Record<string, unknown>)

describe('SMS receipts', () => {
  it('are kept for a day, in the log groups that SNS writes to, even if these exist, as are the logs of the switch', () => {
    // A log group of the template could not be created if SNS had created it before.
    expect(resourcesOf(account, 'AWS::Logs::LogGroup')).toEqual({})
    const switched = Object.keys(resourcesOf(account, 'AWS::Lambda::Function')).find((id) =>
      id.startsWith('AWS'),
    )
    const names = [
      ...OUTCOMES.map((outcome) => ['sns/', ...groupName(outcome)]),
      ['/aws/lambda/', { Ref: switched }],
    ]
    expect(propertiesOf(account, 'Custom::LogRetention')).toEqual(
      names.map((name) =>
        expect.objectContaining({ LogGroupName: { 'Fn::Join': ['', name] }, RetentionInDays: 1 }),
      ),
    )
  })

  it('are one stack for all stages of an account and region', () => {
    const place = { account: '111122223333', region: 'eu-central-1' }
    const [dev, prod] = ['dev', 'prod'].map((stage) => templatesOf(stage, { ...place, smsReceipts: 'on' }))
    expect(prod?.[SMS_RECEIPTS_STACK]).toEqual(dev?.[SMS_RECEIPTS_STACK])
  })

  it('are on in production, and off in development, unless the stage says otherwise', () => {
    const hasReceipts = (stage: string, settings = {}) =>
      /SetSMSAttributes|DirectPublishToPhoneNumber/i.test(JSON.stringify(templatesOf(stage, settings)))
    expect([hasReceipts('prod'), hasReceipts('prod', { smsReceipts: 'off' }), hasReceipts('dev')]).toEqual([
      true,
      false,
      false,
    ])
  })

  it('invoke the function of the stage that reads them, and may do so', () => {
    const lambda = Object.entries(resourcesOf(workers, 'AWS::Lambda::Function')).find(
      ([, { Properties }]) => Properties.FunctionName === 'clinic-dev-sms-receipts',
    )?.[0]
    const reader = { 'Fn::GetAtt': [lambda, 'Arn'] }
    expect(propertiesOf(workers, 'AWS::Logs::SubscriptionFilter')).toEqual(
      OUTCOMES.map((outcome) => ({
        DestinationArn: reader,
        FilterPattern: '',
        LogGroupName: { 'Fn::Join': ['', ['sns/', ...groupName(outcome)]] },
      })),
    )
    const permissions = propertiesOf(workers, 'AWS::Lambda::Permission')
    expect(permissions.filter(({ Principal }) => Principal === 'logs.amazonaws.com')).toEqual(
      OUTCOMES.map((outcome) => ({
        Action: 'lambda:InvokeFunction',
        FunctionName: reader,
        Principal: 'logs.amazonaws.com',
        SourceArn: arn('logs', ':log-group:sns/', ...groupName(`${outcome}:*`)),
      })),
    )
  })

  it('are switched on when the stack is deployed, and off when it is deleted', () => {
    const [role] = Object.keys(resourcesOf(account, 'AWS::IAM::Role')).filter((id) =>
      id.startsWith('SnsLogs'),
    )
    const [switched] = propertiesOf(account, 'Custom::AWS')
    const called = (when: 'Create' | 'Update' | 'Delete') => {
      const written = (switched as Record<string, { 'Fn::Join': [string, unknown[]] }>)[when]
      const parts = written?.['Fn::Join'][1] ?? []
      return JSON.parse(parts.map((part) => (typeof part === 'string' ? part : 'ROLE')).join(''))
    }
    const set = (rate: string) => ({
      service: 'SNS',
      action: 'setSMSAttributes',
      parameters: {
        attributes: { DeliveryStatusIAMRole: 'ROLE', DeliveryStatusSuccessSamplingRate: rate },
      },
    })
    expect(called('Create')).toMatchObject(set('100'))
    expect(called('Update')).toMatchObject(set('100'))
    expect(called('Delete')).toMatchObject(set('0'))
    expect(JSON.stringify(switched)).toContain(`{"Fn::GetAtt":["${role}","Arn"]}`)
  })

  it('can be written by SNS into these log groups only, which it may create', () => {
    const [role] = Object.entries(resourcesOf(account, 'AWS::IAM::Role')).flatMap(([id, resource]) =>
      id.startsWith('SnsLogs') ? [resource as Resource] : [],
    )
    const { AssumeRolePolicyDocument, Policies } = (role as Resource).Properties as unknown as {
      AssumeRolePolicyDocument: { Statement: object[] }
      Policies: { PolicyDocument: { Statement: Statement[] } }[]
    }
    expect(AssumeRolePolicyDocument.Statement).toEqual([
      {
        Effect: 'Allow',
        Action: 'sts:AssumeRole',
        Principal: { Service: 'sns.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      },
    ])
    expect(Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)).toEqual([
      {
        Effect: 'Allow',
        Action: ['logs:CreateLogGroup', 'logs:CreateLogStream', 'logs:PutLogEvents'],
        Resource: OUTCOMES.map((outcome) => arn('logs', ':log-group:sns/', ...groupName(`${outcome}:*`))),
      },
    ])
    expect(role?.Properties).not.toHaveProperty('ManagedPolicyArns')
  })
})
