import { App } from 'aws-cdk-lib'
import { Code } from 'aws-cdk-lib/aws-lambda'
import type { StageSettings } from '../../infra/settings/stages.ts'
import { addStacks } from '../../infra/stacks/deployment.ts'

type Resource = { readonly Type: string; readonly DeletionPolicy?: string }

/** What remains of a stage when its stacks are deleted, a line for each resource. The code of functions plays no part. */
export function retainedBy(stage: StageSettings): string[] {
  const app = new App()
  addStacks(app, stage, () => Code.fromInline('exports.handler = () => {}'))
  return app
    .synth()
    .stacks.flatMap(({ stackName, template }) =>
      Object.entries((template as { Resources: Record<string, Resource> }).Resources).flatMap(
        ([id, { Type, DeletionPolicy = 'Delete' }]) =>
          DeletionPolicy.startsWith('Retain') ? [`${stackName}: ${Type} ${id}`] : [],
      ),
    )
}
