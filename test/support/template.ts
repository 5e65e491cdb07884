import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { Code } from 'aws-cdk-lib/aws-lambda'
import { ClinicStack } from '../../infra/clinic-stack.ts'
import { SmsReceiptsStack } from '../../infra/sms-receipts-stack.ts'
import { type DeploymentContext, stageSettings } from '../../infra/stages.ts'

export type Resource = { Type: string; Properties: Record<string, never>; Metadata?: Record<string, string> }

/** Writes the paths of constructs into the template, like the CDK CLI. */
const newApp = (): App => new App({ context: { 'aws:cdk:enable-path-metadata': true } })

/** The stack without bundles, for tests that read only the template. */
export function stackOf(stage: string, app: App = newApp(), settings?: DeploymentContext): ClinicStack {
  const code = () => Code.fromInline('exports.handler = () => {}')
  return new ClinicStack(app, stageSettings(stage, settings), code)
}

export const templateOf = (stage: string, settings?: DeploymentContext): Template =>
  Template.fromStack(stackOf(stage, newApp(), settings))

/** The opt-in stack of SMS receipts, together with the main stack. */
export function receiptsStackOf(stage: string, app: App = newApp()): SmsReceiptsStack {
  return new SmsReceiptsStack(app, stage, stackOf(stage, app).messaging.smsReceipts)
}

/** The resources of one type by logical id. */
export const resourcesOf = (template: Template, type: string): Record<string, Resource> =>
  template.findResources(type) as Record<string, Resource>

/** The logical id of the construct at a path below the stack, such as `Messaging/Emails`. */
export function logicalIdAt(template: Template, path: string): string {
  const { Resources } = template.toJSON() as { Resources: Record<string, Resource> }
  const found = Object.keys(Resources).filter((id) =>
    Resources[id]?.Metadata?.['aws:cdk:path']?.endsWith(`/${path}/Resource`),
  )
  if (found.length !== 1) throw new Error(`${found.length} resources at ${path}`)
  return found[0] as string
}

export type Statement = {
  Action: string | string[]
  Resource?: unknown
  NotResource?: unknown
  Condition?: Record<string, unknown>
}

type Policy = { PolicyDocument: { Statement: Statement[] } }

const resourcesOfFunction = (template: Template, type: string, id: string): Resource[] =>
  Object.values(resourcesOf(template, type)).filter((resource) =>
    resource.Metadata?.['aws:cdk:path']?.includes(`/${id}/`),
  )

/** The only resource of a type that belongs to the function with this id, a route's or a worker's. */
export function resourceOfFunction(template: Template, type: string, id: string): Resource {
  const found = resourcesOfFunction(template, type, id)
  if (found.length !== 1) throw new Error(`${found.length} resources of ${type} for ${id}`)
  return found[0] as Resource
}

/** All grants of a function: the inline and the attached policies of its role. */
export function grantsOf(template: Template, id: string): Statement[] {
  const { Policies = [] } = resourceOfFunction(template, 'AWS::IAM::Role', id).Properties as {
    Policies?: Policy[]
  }
  const attached = resourcesOfFunction(template, 'AWS::IAM::Policy', id).map(
    ({ Properties }) => Properties as unknown as Policy,
  )
  return [...Policies, ...attached].flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
}
