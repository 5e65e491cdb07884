import { Match } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { resourcesOf, type Statement } from '../../support/template.ts'
import { arn, arnOf, dev, refTo } from '../stacks/expected-template.ts'

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
    EventPattern?: { source: string[]; detail: { eventType: string[] } }
    Targets: { Arn: unknown; InputTransformer: { InputPathsMap: object; InputTemplate: string } }[]
  }
  const rules = Object.values(resourcesOf(dev, 'AWS::Events::Rule'))
    .map(({ Properties }) => Properties as unknown as Rule)
    .filter(({ EventPattern }) => EventPattern?.source[0] === 'aws.ses')

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
        // The rule would pass on the event itself without a transformer, or with another input.
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
