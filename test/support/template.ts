import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { Code } from 'aws-cdk-lib/aws-lambda'
import { ClinicStack } from '../../infra/clinic-stack.ts'
import { stageSettings } from '../../infra/stages.ts'

export type Resource = { Type: string; Properties: Record<string, never>; Metadata?: Record<string, string> }

/** With the paths of constructs in the template, as the CDK CLI asks for. */
const newApp = (): App => new App({ context: { 'aws:cdk:enable-path-metadata': true } })

/** The stack without its bundles, for tests that look at the template only. */
export function stackOf(stage: string, app: App = newApp()): ClinicStack {
  return new ClinicStack(app, stageSettings(stage), () => Code.fromInline('exports.handler = () => {}'))
}

export const templateOf = (stage: string): Template => Template.fromStack(stackOf(stage))

/** Resources of one type by logical id. */
export const resourcesOf = (template: Template, type: string): Record<string, Resource> =>
  template.findResources(type) as Record<string, Resource>

export type Statement = { Action: string | string[]; Resource: unknown; Condition?: Record<string, unknown> }

/** The one resource of a type that belongs to the function with this id. */
export function ofFunction(template: Template, type: string, id: string): Resource {
  const found = Object.values(resourcesOf(template, type)).filter((resource) =>
    resource.Metadata?.['aws:cdk:path']?.includes(`/Api/${id}/`),
  )
  if (found.length !== 1) throw new Error(`${found.length} resources of ${type} for ${id}`)
  return found[0] as Resource
}

/** Everything the function may do. */
export function grantsOf(template: Template, id: string): Statement[] {
  const { Policies = [] } = ofFunction(template, 'AWS::IAM::Role', id).Properties as unknown as {
    Policies?: { PolicyDocument: { Statement: Statement[] } }[]
  }
  return Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
}
