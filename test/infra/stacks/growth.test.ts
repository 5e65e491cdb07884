/** Room to grow: CloudFormation ends at 500 resources and 1 MB for a stack. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { dataStackName, stackName, workersStackName } from '../../../infra/settings/names.ts'
import type { Route } from '../../../shared/api/route.ts'
import { ENDPOINTS, ROUTES } from '../../../shared/api/routes.ts'
import { type StackTemplate, templatesOf } from '../../support/template.ts'

const MAX_RESOURCES = 400
const MAX_BYTES = 850_000

/** Sixty endpoints like the ones that exist, a third of them in nested paths. */
const MORE: Route[] = Array.from({ length: 60 }, (_, at) => {
  const like = ENDPOINTS[at % ENDPOINTS.length] as Route
  const path = at % 3 === 0 ? `/rooms${at}/{id}/items` : `/rooms${at}`
  return { ...like, id: `${like.id}-${at}`, path } as Route
})

const today = templatesOf('dev')
const grown = templatesOf('dev', {}, [...ROUTES, ...MORE])

const changed = (before: StackTemplate, after: StackTemplate): string[] =>
  Object.keys({ ...before.Resources, ...after.Resources }).filter(
    (id) => JSON.stringify(before.Resources[id]) !== JSON.stringify(after.Resources[id]),
  )

it('the CDK writes templates without indentation', () => {
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8'))
  expect(context['@aws-cdk/core:suppressTemplateIndentation']).toBe(true)
})

describe('60 more endpoints', () => {
  it('take what docs/operate/README.md says', () => {
    expect(readFileSync('docs/operate/README.md', 'utf8').replaceAll('\n', ' ')).toContain(
      `at most ${MAX_RESOURCES} of CloudFormation's 500 resources and less than ${MAX_BYTES / 1_000_000} of 1 MB`,
    )
  })

  it.each(Object.keys(today))('leave %s far from the limits of CloudFormation', (name) => {
    const template = grown[name] as StackTemplate
    expect(Object.keys(template.Resources).length).toBeLessThanOrEqual(MAX_RESOURCES)
    expect(JSON.stringify(template).length).toBeLessThan(MAX_BYTES)
  })

  it('take a function with a role and a permission each, and change only the API and its deployment besides', () => {
    expect(Object.keys(grown)).toEqual(Object.keys(today))
    for (const name of [dataStackName('dev'), workersStackName('dev')])
      expect(grown[name]).toEqual(today[name])
    const [before, after] = [
      today[stackName('dev')] as StackTemplate,
      grown[stackName('dev')] as StackTemplate,
    ]
    const added = Object.keys(after.Resources).filter((id) => !before.Resources[id])
    const types = added.map((id) => after.Resources[id]?.Type)
    for (const type of ['AWS::IAM::Role', 'AWS::Lambda::Function', 'AWS::Lambda::Permission'])
      expect([type, types.filter((other) => other === type).length]).toEqual([type, MORE.length])
    const existing = changed(before, after).filter((id) => before.Resources[id])
    expect(existing.map((id) => before.Resources[id]?.Type).sort()).toEqual([
      'AWS::ApiGateway::Deployment',
      'AWS::ApiGateway::RestApi',
      'AWS::ApiGateway::Stage',
    ])
  })
})
