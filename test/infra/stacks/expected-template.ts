/** Names and environments as the template of the dev stage is expected to have them. */
import type { Template } from 'aws-cdk-lib/assertions'
import { logicalIdAt, resourceOfFunction, templateOf } from '../../support/template.ts'

export const dev = templateOf('dev')

/** The ARN of the construct at a path of the stack, as the template refers to it. */
export const arnOf = (path: string) => ({ 'Fn::GetAtt': [logicalIdAt(dev, path), 'Arn'] })

/** An export of the data stack, as other stacks import it. */
export const imported = (name: string) => ({ 'Fn::ImportValue': `ClinicDeveloperApi-dev-Data:${name}` })

/** The physical id of the construct at a path of the stack. */
export const refTo = (path: string) => ({ Ref: logicalIdAt(dev, path) })

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

/** The URL of a queue, as a stack refers to another stack's. */
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
