// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Fn::Sub writes its placeholders so.
import { describe, expect, it } from 'vitest'
import { resolveTemplate, type Template } from '../../../../infra/local/template/template.ts'

const context = {
  region: 'eu-central-1',
  stackName: 'Clinic-dev',
  queueUrl: (name: string) => `http://127.0.0.1:9324/000000000000/${name}`,
}

const resolve = (value: unknown, rest: Partial<Template> = {}) => {
  const Resources = {
    Table: {
      Type: 'AWS::DynamoDB::Table',
      Properties: { TableName: 'patients', StreamSpecification: { StreamViewType: 'KEYS_ONLY' } },
    },
    Plain: { Type: 'AWS::DynamoDB::Table' },
    Queue: { Type: 'AWS::SQS::Queue' },
    Function: { Type: 'AWS::Lambda::Function' },
    Rule: { Type: 'AWS::Events::Rule', Properties: { Name: 'sweep' } },
    Mail: { Type: 'AWS::SES::ConfigurationSet', Properties: { Name: 'mail' } },
    Sender: { Type: 'AWS::SES::EmailIdentity', Properties: { EmailIdentity: 'example.com' } },
    Probe: { Type: 'Test::Probe', Properties: { value } },
    ...rest.Resources,
  }
  const template = resolveTemplate({ ...rest, Resources }, context, () => undefined)
  return template.resourcesOf<{ value?: unknown }>('Test::Probe')[0]?.properties.value
}

describe('intrinsic functions', () => {
  it.each([
    ['a name from the template', { Ref: 'Table' }, 'patients'],
    ['a name derived from the logical id', { Ref: 'Function' }, 'Clinic-dev-Function'],
    ['a queue by its URL', { Ref: 'Queue' }, 'http://127.0.0.1:9324/000000000000/Clinic-dev-Queue'],
    ['the region', { Ref: 'AWS::Region' }, 'eu-central-1'],
    ['the account', { Ref: 'AWS::AccountId' }, '000000000000'],
    ['the partition', { Ref: 'AWS::Partition' }, 'aws'],
    ['the URL suffix', { Ref: 'AWS::URLSuffix' }, 'amazonaws.com'],
    ['an ARN', { 'Fn::GetAtt': ['Queue', 'Arn'] }, 'arn:aws:sqs:eu-central-1:000000000000:Clinic-dev-Queue'],
    [
      'a stream',
      { 'Fn::GetAtt': ['Table', 'StreamArn'] },
      'arn:aws:dynamodb:eu-central-1:000000000000:table/patients/stream/local',
    ],
    ['a rule', { 'Fn::GetAtt': ['Rule', 'Arn'] }, 'arn:aws:events:eu-central-1:000000000000:rule/sweep'],
    ['a configuration set', { Ref: 'Mail' }, 'mail'],
    ['an email identity', { Ref: 'Sender' }, 'example.com'],
    ['a join', { 'Fn::Join': ['/', ['a', { Ref: 'Table' }, 'c']] }, 'a/patients/c'],
    [
      'a substitution',
      { 'Fn::Sub': '${Table}-${AWS::Region}-${Queue.QueueName}' },
      'patients-eu-central-1-Clinic-dev-Queue',
    ],
    [
      'nested lists and objects',
      { a: [{ Ref: 'Table' }, { b: { Ref: 'Table' } }] },
      { a: ['patients', { b: 'patients' }] },
    ],
    ['no value', { a: 1, b: { Ref: 'AWS::NoValue' }, c: [{ Ref: 'AWS::NoValue' }] }, { a: 1, c: [] }],
    ['plain values', { n: 1, t: true, z: null }, { n: 1, t: true, z: null }],
  ])('resolves %s', (_what, value, expected) => {
    expect(resolve(value)).toEqual(expected)
  })

  it.each([
    ['Fn::Transform', { 'Fn::Transform': 'x' }, /Probe uses Fn::Transform/],
    ['an unknown export', { 'Fn::ImportValue': 'x' }, /Probe imports x, which no stack exports/],
    ['an unknown resource', { Ref: 'Missing' }, /Probe refers to Missing/],
    ['another attribute', { 'Fn::GetAtt': ['Queue', 'Colour'] }, /Probe asks for Queue\.Colour.*SQS::Queue/],
    ['a missing stream', { 'Fn::GetAtt': ['Plain', 'StreamArn'] }, /Probe asks for Plain\.StreamArn/],
  ])('throws an error that names the resource that uses %s', (_what, value, message) => {
    expect(() => resolve(value)).toThrow(message)
  })

  it('does not resolve resources of other types', () => {
    const Resources = { Policy: { Type: 'AWS::IAM::Policy', Properties: { x: { 'Fn::Transform': 1 } } } }
    expect(resolve('fine', { Resources })).toBe('fine')
  })
})

it('throws an error that names a resource with a condition', () => {
  const Resources = { Queue: { Type: 'AWS::SQS::Queue', Condition: 'IsEurope' } }
  expect(() => resolveTemplate({ Resources }, context).resourcesOf('AWS::SQS::Queue')).toThrow(
    /Queue has a condition/,
  )
})

it('has outputs, and exports by their names', () => {
  const template = resolveTemplate(
    {
      Resources: { Table: { Type: 'AWS::DynamoDB::Table', Properties: { TableName: 'patients' } } },
      Outputs: {
        Table: {
          Value: { Ref: 'Table' },
          Export: { Name: { 'Fn::Sub': '${AWS::StackName}:Table' } },
        },
        Hidden: { Value: 'x' },
      },
    },
    context,
  )
  expect(template.exported('Clinic-dev:Table')).toBe('patients')
  expect(template.exported('Hidden')).toBeUndefined()
  expect(template.outputs()).toEqual({ Table: 'patients', Hidden: 'x' })
})

it('physical names stay within the limits of their service and remain distinct', () => {
  const ids = ['A', 'B'].map((last) => `${'Long'.repeat(30)}${last.repeat(8)}`)
  const template = resolveTemplate(
    { Resources: Object.fromEntries(ids.map((id) => [id, { Type: 'AWS::Lambda::Function' }])) },
    context,
  )
  const names = ids.map((id) => template.ref(id))
  expect(names.map(({ length }) => length)).toEqual([64, 64])
  expect(new Set(names).size).toBe(2)
})
