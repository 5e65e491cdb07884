import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { Code } from 'aws-cdk-lib/aws-lambda'
import { inject } from 'vitest'
import { stackName } from '../../infra/settings/names.ts'
import type { Settings } from '../../infra/settings/settings.ts'
import { type StageSettings, stageSettings } from '../../infra/settings/stages.ts'
import { addStacks } from '../../infra/stacks/deployment.ts'
import { PipelineStack } from '../../infra/stacks/pipeline-stack.ts'
import type { Route } from '../../shared/api/route.ts'
import type { Combination } from './combinations.ts'

export type Resource = { Type: string; Properties: Record<string, never>; Metadata?: Record<string, string> }

/** A template as CloudFormation gets it. */
export type StackTemplate = {
  Resources: Record<string, Resource & { DeletionPolicy?: string }>
  Outputs?: Record<string, { Value: unknown; Export?: { Name: string } }>
}

/** Writes the paths of constructs into the template, like the CDK CLI. */
const newApp = (): App => new App({ context: { 'aws:cdk:enable-path-metadata': true } })

/** The settings that the file of a stage leaves to be filled in. */
const FILLED_IN: Record<string, Settings> = {
  prod: {
    account: '111122223333',
    region: 'eu-central-1',
    emailFrom: 'mail@praxis-nord.de',
    smsSenderId: 'Praxis',
  },
}

/** The settings of a stage whose file is filled in. */
export const settingsOf = (stage: string, settings: Settings = {}): StageSettings =>
  stageSettings(stage, { ...FILLED_IN[stage], ...settings })

/** Adds the stacks of a stage without bundles, for tests that read only the templates. */
export function addStacksOf(stage: string, app: App, settings?: Settings, routes?: readonly Route[]) {
  addStacks(app, settingsOf(stage, settings), () => Code.fromInline('exports.handler = () => {}'), routes)
}

/** Adds the stacks of a combination, with its pipeline in an account without other stages. */
export function addCombination({ stage, settings, pipeline }: Combination, app: App): void {
  addStacksOf(stage, app, settings)
  if (pipeline) new PipelineStack(app, settingsOf(stage, settings), { repository: 'practice/clinic' }, [])
}

/** The templates of all stacks of a combination. */
export function combinedTemplates({ stage, settings, pipeline }: Combination): Templates {
  const templates = templatesOf(stage, settings)
  if (!pipeline) return templates
  const app = newApp()
  const { stackName } = new PipelineStack(
    app,
    settingsOf(stage, settings),
    { repository: 'practice/clinic' },
    [],
  )
  return { ...templates, [stackName]: app.synth().getStackByName(stackName).template }
}

type Templates = Record<string, StackTemplate>

/** The templates of all stacks of a stage, by the names of the stacks. All test files of a run share those with our routes. */
export function templatesOf(stage: string, settings?: Settings, routes?: readonly Route[]): Templates {
  if (routes) return synthesized(stage, settings, routes)
  const digest = createHash('sha256')
    .update(JSON.stringify([stage, settings]))
    .digest('hex')
  const file = join(inject('runFolder'), `templates-${digest}.json`)
  if (!existsSync(file)) {
    const unfinished = `${file}.${process.pid}`
    writeFileSync(unfinished, JSON.stringify(synthesized(stage, settings)))
    renameSync(unfinished, file)
  }
  return JSON.parse(readFileSync(file, 'utf8'))
}

function synthesized(stage: string, settings?: Settings, routes?: readonly Route[]): Templates {
  const app = newApp()
  addStacksOf(stage, app, settings, routes)
  return Object.fromEntries(app.synth().stacks.map(({ stackName, template }) => [stackName, template]))
}

/** The resources of all stacks of a stage as one template, with the outputs that describe the deployment. */
export function templateOf(stage: string, settings?: Settings): Template {
  const templates = templatesOf(stage, settings)
  const Resources: StackTemplate['Resources'] = {}
  for (const template of Object.values(templates))
    for (const [id, resource] of Object.entries(template.Resources)) {
      if (Resources[id]) throw new Error(`Two stacks have a resource ${id}.`)
      Resources[id] = resource
    }
  return Template.fromJSON({ Resources, Outputs: templates[stackName(stage)]?.Outputs })
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
