import { Match } from 'aws-cdk-lib/assertions'
import { expect, it } from 'vitest'
import { stageWarnings } from '../../../infra/settings/stages.ts'
import { parseAuthorization } from '../../../shared/domain/credential.ts'
import { resourcesOf, settingsOf, templateOf } from '../../support/template.ts'

const template = templateOf('prod')

type Rule = {
  Name: string
  Priority: number
  Statement: {
    RateBasedStatement?: { Limit: number; ScopeDownStatement?: object }
    ManagedRuleGroupStatement?: { RuleActionOverrides?: { Name: string; ActionToUse: object }[] }
  }
}
const [acl] = Object.values(resourcesOf(template, 'AWS::WAFv2::WebACL'))
const rules = (acl as unknown as { Properties: { Rules: Rule[] } }).Properties.Rules

it('is on by default in production only, where the synthesis warns if it is off', () => {
  templateOf('dev').resourceCountIs('AWS::WAFv2::WebACL', 0)
  templateOf('prod', { firewall: 'off' }).resourceCountIs('AWS::WAFv2::WebACL', 0)
  const warned = (firewall: string) => stageWarnings(settingsOf('prod', { firewall })).join()
  expect([warned('off').includes('Without a firewall'), warned('on').includes('Without a firewall')]).toEqual(
    [true, false],
  )
  template.hasResourceProperties('AWS::WAFv2::WebACLAssociation', { ResourceArn: Match.anyValue() })
  expect(() => templateOf('dev', { firewall: 'yes' })).toThrow('firewall must be "on" or "off"')
})

it('limits the rate of an address, and more strictly without what can be a credential', () => {
  const limits = rules.flatMap(({ Name, Statement: { RateBasedStatement: rate } }) =>
    rate ? [[Name, rate.Limit, rate.ScopeDownStatement !== undefined]] : [],
  )
  expect(limits).toEqual([
    ['Address', 30_000, false],
    ['Unauthenticated', 1_000, true],
  ])
  expect(JSON.stringify(rules[1])).toContain('"SingleHeader":{"Name":"authorization"}')
  const [, pattern = ''] = /"RegexString":"([^"]+)"/.exec(JSON.stringify(rules[1])) ?? []
  const headers = [
    'Developer ck_a_1:s',
    'developer !~:9;',
    '',
    'Bearer a:b',
    'Developer a:b:c',
    'Developer a b:c',
  ]
  for (const header of headers)
    expect([header, new RegExp(pattern).test(header.toLowerCase())]).toEqual([
      header,
      parseAuthorization(header) !== null,
    ])
})

it('does not block free text, URLs and large bodies', () => {
  const overridden = rules.flatMap(
    ({ Statement }) => Statement.ManagedRuleGroupStatement?.RuleActionOverrides ?? [],
  )
  expect(overridden.map(({ Name }) => Name)).toEqual(
    expect.arrayContaining(['SizeRestrictions_BODY', 'CrossSiteScripting_BODY', 'GenericRFI_BODY']),
  )
  for (const { ActionToUse } of overridden) expect(ActionToUse).toEqual({ Count: {} })
})

it('keeps no samples of requests, which contain their queries', () => {
  expect(JSON.stringify(acl)).not.toContain('"SampledRequestsEnabled":true')
})
