import { Match, Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { receiptsStackOf, resourcesOf, type Statement } from '../support/template.ts'
import { arn, arnOf, dev, refTo } from './expected-grants.ts'

describe('mail', () => {
  it('requires TLS and suppresses addresses that bounced or complained', () => {
    dev.resourceCountIs('AWS::SES::ConfigurationSet', 1)
    dev.hasResourceProperties('AWS::SES::ConfigurationSet', {
      DeliveryOptions: { TlsPolicy: 'REQUIRE' },
      ReputationOptions: { ReputationMetricsEnabled: true },
      SuppressionOptions: { SuppressedReasons: ['BOUNCE', 'COMPLAINT'] },
      TrackingOptions: Match.absent(),
    })
  })

  it('publishes its events to the default event bus, without opens and clicks', () => {
    dev.resourceCountIs('AWS::SES::ConfigurationSetEventDestination', 1)
    dev.hasResourceProperties('AWS::SES::ConfigurationSetEventDestination', {
      ConfigurationSetName: refTo('Messaging/Mail'),
      EventDestination: {
        Enabled: true,
        EventBridgeDestination: { EventBusArn: arn('events', ':event-bus/default') },
        MatchingEventTypes: ['send', 'delivery', 'bounce', 'complaint', 'reject'],
      },
    })
  })

  type Rule = {
    EventPattern?: { detail: { eventType: string[] } }
    Targets: { Arn: unknown; InputTransformer: { InputPathsMap: object; InputTemplate: string } }[]
  }
  const rules = Object.values(resourcesOf(dev, 'AWS::Events::Rule'))
    .map(({ Properties }) => Properties as unknown as Rule)
    .filter(({ EventPattern }) => EventPattern)

  it('has a rule for each kind of event of this configuration set', () => {
    expect(rules.map(({ EventPattern }) => EventPattern)).toEqual(
      ['Send', 'Delivery', 'Bounce', 'Complaint', 'Reject'].map((eventType) => ({
        source: ['aws.ses'],
        detail: {
          eventType: [eventType],
          mail: { tags: { 'ses:configuration-set': [refTo('Messaging/Mail')] } },
        },
      })),
    )
  })

  it('passes on ids and types only, never an address, a subject or a server’s response', () => {
    const ALLOWED = [
      '$.detail.mail.tags.clinic',
      '$.detail.mail.tags.message',
      '$.detail.mail.messageId',
      '$.time',
      '$.detail.bounce.bounceType',
      '$.detail.bounce.bounceSubType',
    ]
    for (const { Targets, EventPattern } of rules) {
      expect(Targets.map(({ Arn }) => Arn)).toEqual([arnOf('Messaging/Feedback')])
      for (const target of Targets) {
        // Without a transformer, or with another input, the rule would pass on the event itself.
        expect(Object.keys(target).sort()).toEqual(['Arn', 'Id', 'InputTransformer'])
        const { InputPathsMap, InputTemplate } = target.InputTransformer
        const used = Object.values(InputPathsMap) as string[]
        expect(used.filter((path) => !ALLOWED.includes(path))).toEqual([])
        const filled = InputTemplate.replace(/<([^>]+)>/g, (_, name) => {
          expect(InputPathsMap).toHaveProperty([name])
          return JSON.stringify(name)
        })
        expect(JSON.parse(filled)).toMatchObject({ event: EventPattern?.detail.eventType[0] })
      }
    }
  })

  it('lets only those rules send to the feedback queue', () => {
    const policies = Object.values(resourcesOf(dev, 'AWS::SQS::QueuePolicy')).map(
      ({ Properties }) => Properties as unknown as { PolicyDocument: { Statement: Statement[] } },
    )
    const allowed = policies
      .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
      .filter((statement) => (statement as { Effect?: string }).Effect === 'Allow')
    expect(allowed).toEqual(
      ['Send', 'Delivery', 'Bounce', 'Complaint', 'Reject'].map((kind) => ({
        Effect: 'Allow',
        Principal: { Service: 'events.amazonaws.com' },
        Action: expect.arrayContaining(['sqs:SendMessage']),
        Resource: arnOf('Messaging/Feedback'),
        Condition: { ArnEquals: { 'aws:SourceArn': arnOf(`Messaging/${kind}Rule`) } },
      })),
    )
  })
})

describe('SMS receipts', () => {
  const receipts = Template.fromStack(receiptsStackOf('dev'))
  const groups = resourcesOf(receipts, 'AWS::Logs::LogGroup')

  it('are kept for a day, in the log groups that SNS writes to', () => {
    const named = (outcome: string) => ({
      LogGroupName: {
        'Fn::Join': [
          '',
          [
            'sns/',
            { Ref: 'AWS::Region' },
            '/',
            { Ref: 'AWS::AccountId' },
            `/DirectPublishToPhoneNumber${outcome}`,
          ],
        ],
      },
      RetentionInDays: 1,
    })
    expect(Object.values(groups)).toEqual(
      ['', '/Failure'].map((outcome) =>
        expect.objectContaining({ Properties: named(outcome), DeletionPolicy: 'Delete' }),
      ),
    )
  })

  it('invoke the function that reads them, and may do so', () => {
    const imported = { 'Fn::ImportValue': expect.stringMatching(/smsreceiptsFunction/) }
    const of = (type: string) =>
      Object.values(resourcesOf(receipts, type)).map(({ Properties }) => Properties)
    expect(of('AWS::Logs::SubscriptionFilter')).toEqual(
      Object.keys(groups).map((id) => ({
        DestinationArn: imported,
        FilterPattern: '',
        LogGroupName: { Ref: id },
      })),
    )
    expect(of('AWS::Lambda::Permission')).toEqual(
      Object.keys(groups).map((id) => ({
        Action: 'lambda:InvokeFunction',
        FunctionName: imported,
        Principal: 'logs.amazonaws.com',
        SourceArn: { 'Fn::GetAtt': [id, 'Arn'] },
      })),
    )
  })

  it('are switched on when the stack is deployed, and off when it is deleted', () => {
    const [role] = Object.keys(resourcesOf(receipts, 'AWS::IAM::Role'))
    const [{ Properties } = { Properties: {} }] = Object.values(resourcesOf(receipts, 'Custom::AWS'))
    const called = (when: 'Create' | 'Update' | 'Delete') => {
      const written = (Properties as unknown as Record<string, { 'Fn::Join': [string, unknown[]] }>)[when]
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
    expect(JSON.stringify(Properties)).toContain(`{"Fn::GetAtt":["${role}","Arn"]}`)
  })

  it('can be written by SNS into these log groups only', () => {
    receipts.hasResourceProperties('AWS::IAM::Role', {
      AssumeRolePolicyDocument: {
        Statement: [
          { Effect: 'Allow', Action: 'sts:AssumeRole', Principal: { Service: 'sns.amazonaws.com' } },
        ],
      },
      ManagedPolicyArns: Match.absent(),
    })
    const grants = Object.values(resourcesOf(receipts, 'AWS::IAM::Policy')).flatMap(
      ({ Properties }) =>
        (Properties as unknown as { PolicyDocument: { Statement: Statement[] } }).PolicyDocument.Statement,
    )
    const write = { Effect: 'Allow', Action: ['logs:CreateLogStream', 'logs:PutLogEvents'] }
    expect(grants.filter(({ Action }) => Action.includes('logs:PutLogEvents'))).toEqual(
      Object.keys(groups).map((id) => ({ ...write, Resource: { 'Fn::GetAtt': [id, 'Arn'] } })),
    )
  })

  it('leave no trace in the main stack', () => {
    const text = JSON.stringify(dev.toJSON())
    expect(text).not.toMatch(/SetSMSAttributes|DirectPublishToPhoneNumber/i)
    const filters = Object.values(resourcesOf(dev, 'AWS::Logs::SubscriptionFilter'))
    expect(JSON.stringify(filters)).not.toContain('smsreceipts')
  })
})
