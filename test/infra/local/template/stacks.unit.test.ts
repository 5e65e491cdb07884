import { expect, it } from 'vitest'
import { resolveStacks } from '../../../../infra/local/template/stacks.ts'
import type { Template, TemplateResource } from '../../../../infra/local/template/template.ts'

const context = { region: 'us-east-1', queueUrl: (name: string) => `http://127.0.0.1:1/${name}` }

const stack = (
  stackName: string,
  Resources: Record<string, TemplateResource>,
  Outputs: Template['Outputs'] = {},
) => ({
  stackName,
  template: { Resources, Outputs },
})
const table = (TableName?: string) => ({
  Type: 'AWS::DynamoDB::Table',
  Properties: TableName === undefined ? {} : { TableName },
})
const probe = (value: unknown) => ({ Type: 'Test::Probe', Properties: { value } })

const data = stack(
  'Data',
  { Table: table() },
  { Name: { Value: { Ref: 'Table' }, Export: { Name: 'Data:Name' } } },
)
const relay = stack(
  'Relay',
  { Queue: { Type: 'AWS::SQS::Queue' } },
  { Name: { Value: { 'Fn::ImportValue': 'Data:Name' }, Export: { Name: 'Relay:Name' } } },
)
const main = stack(
  'Main',
  { Probe: probe([{ 'Fn::ImportValue': 'Data:Name' }, { 'Fn::ImportValue': 'Relay:Name' }]) },
  { Url: { Value: 'x' } },
)

it('resolves imports of other stacks, in whatever order these are', () => {
  const orders = [
    [main, relay, data],
    [data, relay, main],
  ]
  for (const stacks of orders) {
    const [found] = resolveStacks(stacks, context).resourcesOf('Test::Probe')
    expect(found?.properties).toEqual({ value: ['Data-Table', 'Data-Table'] })
  }
})

it('has the resources of all stacks, with names of their own stack, and the outputs of the first', () => {
  const stacks = resolveStacks([main, relay, data], context)
  expect(stacks.resourcesOf('AWS::SQS::Queue').map(({ id }) => id)).toEqual(['Queue'])
  expect([stacks.ref('Table'), stacks.attribute('Queue', 'QueueName')]).toEqual(['Data-Table', 'Relay-Queue'])
  expect(stacks.outputs()).toEqual({ Url: 'x' })
  expect([stacks.exported('Relay:Name'), stacks.exported('x')]).toEqual(['Data-Table', undefined])
})

it('throws an error for a resource that two stacks have, or none, when it is looked up', () => {
  const stacks = resolveStacks([data, stack('Other', { Table: table('other') })], context)
  expect(stacks.resourcesOf('AWS::DynamoDB::Table')).toHaveLength(2)
  expect(() => stacks.ref('Table')).toThrow('2 stacks have a resource Table.')
  expect(() => stacks.attribute('Missing', 'Arn')).toThrow('No stack has the resource Missing.')
})
