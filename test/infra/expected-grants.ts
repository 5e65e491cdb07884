/** Grants and environments as the template of the dev stage is expected to have them. */
import type { Template } from 'aws-cdk-lib/assertions'
import { logicalIdAt, resourceOfFunction, templateOf } from '../support/template.ts'

export const dev = templateOf('dev')

/** The ARN of the construct at a path of the stack, as the template refers to it. */
export const arnOf = (path: string) => ({ 'Fn::GetAtt': [logicalIdAt(dev, path), 'Arn'] })

/** The physical id of the construct at a path of the stack. */
export const refTo = (path: string) => ({ Ref: logicalIdAt(dev, path) })

const actions = (names: readonly string[]) => (names.length === 1 ? names[0] : names) as string | string[]

export const writeLogs = (path: string) => ({
  Effect: 'Allow',
  Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
  Resource: arnOf(`${path}/Logs`),
})

export const onTable = { Effect: 'Allow', Resource: arnOf('Data/Table') }

/** A function that writes records also announces events; other due items are for delivering functions only. */
function hiddenPartitions(calls: readonly string[]): string[] {
  const due = calls.includes('PutItem') ? ['due#message#*', 'due#delivery#*', 'due#unresolved*'] : ['due#*']
  return [...due, 'provider#*']
}

export const tableGrant = (calls: readonly string[], { delivers }: { delivers: boolean }) => ({
  ...onTable,
  Action: actions(calls.map((call) => `dynamodb:${call}`)),
  Condition: {
    'ForAllValues:StringNotLike': {
      'dynamodb:LeadingKeys': [
        ...['credential#*', 'clinics', 'erasure#*', 'import#*'],
        ...(delivers ? [] : hiddenPartitions(calls)),
      ],
    },
  },
})

export const useKey = {
  Effect: 'Allow',
  Action: ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
  Resource: arnOf('Data/TableKey'),
  Condition: {
    StringEquals: {
      'kms:ViaService': { 'Fn::Join': ['', ['dynamodb.', { Ref: 'AWS::Region' }, '.amazonaws.com']] },
    },
  },
}

export const pushTo = (queue: string) => ({
  Effect: 'Allow',
  Action: 'sqs:SendMessage',
  Resource: arnOf(queue),
})
export const pushEmails = pushTo('Messaging/Emails')
export const pushDeliveries = pushTo('Events/Deliveries')
export const pushSlowDeliveries = pushTo('Events/SlowDeliveries')

/** `arn:aws:<service>:<region>:<account>:<resource>` as the CDK writes it. */
export const arn = (service: string, ...resource: unknown[]) => ({
  'Fn::Join': [
    '',
    [
      'arn:',
      { Ref: 'AWS::Partition' },
      `:${service}:`,
      { Ref: 'AWS::Region' },
      ':',
      { Ref: 'AWS::AccountId' },
      ...resource,
    ],
  ],
})

export const deliveryQueues = {
  DELIVERY_QUEUE_URL: refTo('Events/Deliveries'),
  SLOW_DELIVERY_QUEUE_URL: refTo('Events/SlowDeliveries'),
}

export const fanOutQueue = { FAN_OUT_QUEUE_URL: refTo('Events/FanOuts') }
export const pushFanOuts = pushTo('Events/FanOuts')

export const environmentOf = (template: Template, id: string) =>
  (
    resourceOfFunction(template, 'AWS::Lambda::Function', id).Properties as unknown as {
      Environment?: { Variables: Record<string, unknown> }
    }
  ).Environment?.Variables ?? {}
