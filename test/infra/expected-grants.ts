/** Grants and environments as the template of the dev stage is expected to have them. */
import type { Template } from 'aws-cdk-lib/assertions'
import { logicalIdAt, resourceOfFunction, templateOf } from '../support/template.ts'

export const dev = templateOf('dev')

/** The ARN of the construct at a path of the stack, as the template refers to it. */
export const arnOf = (path: string) => ({ 'Fn::GetAtt': [logicalIdAt(dev, path), 'Arn'] })

/** What the data stack exports, as other stacks import it. */
export const imported = (name: string) => ({ 'Fn::ImportValue': `ClinicDeveloperApi-dev-Data:${name}` })

/** The physical id of the construct at a path of the stack. */
export const refTo = (path: string) => ({ Ref: logicalIdAt(dev, path) })

const actions = (names: readonly string[]) => (names.length === 1 ? names[0] : names) as string | string[]

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

/** The grant on the log group that functions share. */
export const writeLogs = (name: 'EndpointLogGroup' | 'WorkerLogGroup') => ({
  Effect: 'Allow',
  Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
  Resource: arn('logs', ':log-group:', imported(name), ':*'),
})

export const onTable = { Effect: 'Allow', Resource: arn('dynamodb', ':table/', imported('TableName')) }

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
        ...['credential#*', 'clinics', 'erasure#*', 'import#*', 'table#*'],
        ...(delivers ? [] : hiddenPartitions(calls)),
      ],
    },
  },
})

export const useKey = {
  Effect: 'Allow',
  Action: ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
  Resource: imported('TableKeyArn'),
  Condition: {
    StringEquals: {
      'kms:ViaService': { 'Fn::Join': ['', ['dynamodb.', { Ref: 'AWS::Region' }, '.amazonaws.com']] },
    },
  },
}

export const pushTo = (queue: object) => ({ Effect: 'Allow', Action: 'sqs:SendMessage', Resource: queue })

/** The ARN and the URL of a queue, as a stack refers to another stack's. */
export const queueArn = (queue: string) => arn('sqs', `:clinic-dev-${queue}`)
export const queueUrl = (queue: string) => ({
  'Fn::Join': [
    '',
    [
      'https://sqs.',
      { Ref: 'AWS::Region' },
      '.',
      { Ref: 'AWS::URLSuffix' },
      '/',
      { Ref: 'AWS::AccountId' },
      `/clinic-dev-${queue}`,
    ],
  ],
})

export const environmentOf = (template: Template, id: string) =>
  (
    resourceOfFunction(template, 'AWS::Lambda::Function', id).Properties as unknown as {
      Environment?: { Variables: Record<string, unknown> }
    }
  ).Environment?.Variables ?? {}
