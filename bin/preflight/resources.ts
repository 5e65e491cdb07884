import { App } from 'aws-cdk-lib'
import { Code } from 'aws-cdk-lib/aws-lambda'
import type { StageSettings } from '../../infra/settings/stages.ts'
import { addStacks } from '../../infra/stacks/deployment.ts'

/** A resource of a stack of a stage. */
export type Resource = {
  readonly stack: string
  readonly id: string
  readonly Type: string
  readonly DeletionPolicy?: string
}

/** The resources of all stacks of a stage. The code of functions plays no part. */
export function resourcesOf(stage: StageSettings): Resource[] {
  const app = new App()
  addStacks(app, stage, () => Code.fromInline('exports.handler = () => {}'))
  return app.synth().stacks.flatMap(({ stackName: stack, template }) => {
    const { Resources } = template as { Resources: Record<string, Omit<Resource, 'stack' | 'id'>> }
    return Object.entries(Resources).map(([id, resource]) => ({ stack, id, ...resource }))
  })
}
