import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { logFilters, openLogDelivery } from '../../../../infra/local/logs/log-delivery.ts'
import { resolveTemplate, type TemplateResource } from '../../../../infra/local/template/template.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const PATTERN = '{ $.type = "access" }'

const filtersOf = (
  FilterPattern = PATTERN,
  { Prefix = 'access/day=!{timestamp:yyyy-MM-dd}/', more = {} }: { Prefix?: string; more?: object } = {},
) => {
  const Resources: Record<string, TemplateResource> = {
    Stream: {
      Type: 'AWS::KinesisFirehose::DeliveryStream',
      Properties: { ExtendedS3DestinationConfiguration: { Prefix } },
    },
    Group: { Type: 'AWS::Logs::LogGroup', Properties: { LogGroupName: 'group' } },
    Filter: {
      Type: 'AWS::Logs::SubscriptionFilter',
      Properties: {
        LogGroupName: { Ref: 'Group' },
        DestinationArn: { 'Fn::GetAtt': ['Stream', 'Arn'] },
        FilterPattern,
        ...more,
      },
    },
  }
  const context = { region: 'us-east-1', stackName: 'Test', queueUrl: (name: string) => name }
  return logFilters(resolveTemplate({ Resources }, context))
}

it.each([
  ['a line whose field has the value', '{"type":"access","records":[]}', true],
  ['a line with another value', '{"type":"request","text":"access"}', false],
  ['a line with the value in a nested object', '{"inner":{"type":"access"}}', false],
  ['a line with a longer value', '{"type":"accessed"}', false],
  ['a line of text that quotes it', 'failed: {"type":"access"}', false],
  ['an empty line', '', false],
  ['null', 'null', false],
])('for %s, whether the pattern matches', (_what, line, expected) => {
  expect(filtersOf()[0]?.matches(line)).toBe(expected)
})

it.each(['', 'ERROR', '{ $.a = 1 }', '{ $.a != "b" }', '{ $.a = "b*" }', '{ $.a = "b" && $.c = "d" }'])(
  'rejects the pattern %j',
  (pattern) => {
    expect(() => filtersOf(pattern)).toThrow(/^Filter has the FilterPattern/)
  },
)

it('rejects a destination that is no delivery stream, and a stream without a folder', () => {
  expect(() => filtersOf(PATTERN, { more: { DestinationArn: 'arn:x' } })).toThrow(/^Filter forwards to arn:x/)
  expect(() => filtersOf(PATTERN, { Prefix: '!{timestamp:yyyy}/' })).toThrow(
    /^Stream needs an S3 destination/,
  )
})

const LINE = '{"type":"access","n":1}'

it('appends matching lines of the subscribed log groups, and only those', () => {
  const folder = temporaryFolder()
  const deliver = (text: string, group = 'group') => {
    const delivery = openLogDelivery(filtersOf(), folder)
    delivery.write(group, text)
    delivery.close()
    return readFileSync(join(folder, 'access.ndjson'), 'utf8')
  }
  expect(deliver(`${LINE}\n{"type":"request"}\nplain\n${LINE}\n`)).toBe(`${LINE}\n${LINE}\n`)
  expect(deliver(LINE, 'other group')).toBe(`${LINE}\n${LINE}\n`)
  expect(deliver(LINE)).toBe(`${LINE}\n${LINE}\n${LINE}\n`)
})

it('leaves no file behind without a data directory', () => {
  const delivery = openLogDelivery(filtersOf())
  delivery.write('group', LINE)
  const { access = '' } = delivery.files()
  expect(readFileSync(access, 'utf8')).toBe(`${LINE}\n`)
  delivery.close()
  expect(() => readFileSync(access)).toThrow(/ENOENT/)
})
