// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Fn::Sub writes its placeholders so.
import { describe, expect, it } from 'vitest'
import { emailEventFactory } from '../../../infra/local/providers/email-events.ts'
import { createReceipt } from '../../../infra/local/providers/sms-receipts.ts'
import type { Template, TemplateResource } from '../../../infra/local/template/template.ts'
import type { EmailEventType, SmsScenario } from '../../../shared/delivery/test-recipients.ts'
import { DOCTORS, deployed, loggedEvents, loggingVersion } from './deployed-versions.ts'

const DEFAULT_BUS = { 'Fn::Sub': 'arn:aws:events:us-east-1:${AWS::AccountId}:event-bus/default' }

describe('email events', () => {
  const resources = (EventDestination: object) => ({
    Mail: { Type: 'AWS::SES::ConfigurationSet', Properties: { Name: 'clinic-mail' } },
    Events: {
      Type: 'AWS::SES::ConfigurationSetEventDestination',
      Properties: { ConfigurationSetName: { Ref: 'Mail' }, EventDestination: { ...EventDestination } },
    },
    Rule: {
      Type: 'AWS::Events::Rule',
      Properties: {
        EventPattern: { source: ['aws.ses'] },
        Targets: [
          {
            Id: 'a',
            Arn: DOCTORS,
            InputTransformer: { InputPathsMap: { type: '$.detail.eventType' }, InputTemplate: '<type>' },
          },
        ],
      },
    },
  })
  const BUS = { EventBusArn: DEFAULT_BUS }

  async function publish(EventDestination: object, ConfigurationSetName?: string) {
    const { listener, lines } = await deployed(loggingVersion(resources(EventDestination)))
    const scenario = { eventTypes: [] }
    const eventOf = emailEventFactory(
      { ...(ConfigurationSetName && { ConfigurationSetName }) },
      'ses-1',
      scenario,
      'x',
    )
    for (const type of ['Send', 'Delivery', 'Bounce', 'Complaint'] as EmailEventType[])
      await listener.email(eventOf(type))
    return loggedEvents(lines)
  }

  it.each([
    ['for its types', { MatchingEventTypes: ['SEND', 'BOUNCE'] }, ['Send', 'Bounce']],
    [
      'for types spelled as in the CDK',
      { MatchingEventTypes: ['delivery', 'complaint'] },
      ['Delivery', 'Complaint'],
    ],
    ['unless the destination is disabled', { MatchingEventTypes: ['SEND'], Enabled: false }, []],
  ])('go to the event bus %s', async (_what, destination, expected) => {
    expect(await publish({ ...destination, EventBridgeDestination: BUS }, 'clinic-mail')).toEqual(expected)
  })

  it('are rejected with a destination other than the default bus', async () => {
    const EventBridgeDestination = { EventBusArn: 'arn:aws:events:x:0:event-bus/mine' }
    await expect(publish({ MatchingEventTypes: ['SEND'], EventBridgeDestination })).rejects.toThrow(
      /Events publishes to .*event-bus\/mine; SES supports the default bus only/,
    )
  })
})

describe('delivery receipts', () => {
  const GROUP = 'sns/us-east-1/000000000000/DirectPublishToPhoneNumber'
  const filter = (LogGroupName: unknown, more: object = {}): TemplateResource => ({
    Type: 'AWS::Logs::SubscriptionFilter',
    Properties: {
      LogGroupName,
      FilterPattern: '',
      DestinationArn: { 'Fn::ImportValue': 'Test:Doctors' },
      ...more,
    },
  })
  const Outputs = { Doctors: { Value: DOCTORS, Export: { Name: 'Test:Doctors' } } }
  const Sub = 'sns/${AWS::Region}/${AWS::AccountId}/DirectPublishToPhoneNumber/Failure'
  const RECEIPTS: Template = {
    Resources: {
      Success: filter(GROUP, { FilterName: 'success' }),
      Failure: filter({ 'Fn::Sub': Sub }),
      Settings: {
        Type: 'Custom::AWS',
        Properties: { ServiceToken: { 'Fn::GetAtt': ['Provider', 'Arn'] }, anything: { 'Fn::Transform': 1 } },
      },
      Provider: { Type: 'AWS::Lambda::Function', Properties: { Code: { ZipFile: 'x' } } },
    },
  }
  const sms = {
    message_id: 'sms-1',
    to: '+12015550199',
    message: 'x',
    sender_id: null,
    max_price: null,
    type: 'Transactional',
    at: '2026-01-02T03:04:05.678Z',
  }

  async function write(receipt: SmsScenario['receipt'], otherStacks: Template[]) {
    const { listener, lines } = await deployed(loggingVersion({}, otherStacks, { Outputs }))
    await listener.sms(createReceipt(sms, { receipt }))
    return loggedEvents(lines)
  }

  it.each([
    ['SUCCESS', GROUP, 'success'],
    ['FAILURE', `${GROUP}/Failure`, 'Failure'],
  ] as const)(
    'of status %s invoke the functions that are subscribed to %s',
    async (status, logGroup, name) => {
      const [written] = await write(status, [RECEIPTS])
      expect(written).toMatchObject({ messageType: 'DATA_MESSAGE', logGroup, subscriptionFilters: [name] })
      expect(JSON.parse(written.logEvents[0].message)).toMatchObject({
        status,
        notification: { messageId: 'sms-1', timestamp: '2026-01-02 03:04:05.678' },
        delivery: { destination: '+12015550199', smsType: 'Transactional' },
      })
    },
  )

  it('are dropped when no function is subscribed', async () => {
    expect(await write('SUCCESS', [])).toEqual([])
    expect(await write('FAILURE', [{ Resources: { Success: filter(GROUP) } }])).toEqual([])
  })

  it.each([
    ['has a filter pattern', { FilterPattern: '{ $.status = "FAILURE" }' }, /Odd has a FilterPattern/],
    [
      'names an unknown function',
      { DestinationArn: 'arn:aws:lambda:x:0:function:f' },
      /Odd calls .*not a function of the stack/,
    ],
    ['imports an unknown export', { DestinationArn: { 'Fn::ImportValue': 'x' } }, /Odd imports x/],
  ])('are rejected with a subscription that %s', async (_what, more, message) => {
    await expect(write('SUCCESS', [{ Resources: { Odd: filter(GROUP, more) } }])).rejects.toThrow(message)
  })
})
