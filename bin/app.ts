import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { functionCode, localFunctionCode } from '../infra/functions/bundles.ts'
import { settingsIn, stageSettings } from '../infra/settings/stages.ts'
import { addStacks, functionIds } from '../infra/stacks/deployment.ts'
import { PipelineStack } from '../infra/stacks/pipeline-stack.ts'

const app = new App()
const stage = readStage()
// Set by the local runner.
const isLocal = process.env.LOCAL_BUNDLES === 'on'
const code = isLocal
  ? await localFunctionCode(functionIds(), app.outdir)
  : await functionCode(functionIds(), join(app.outdir, 'bundles'))
addStacks(app, stage, code)
const repository = app.node.tryGetContext('pipelineRepository')
if (repository !== undefined)
  new PipelineStack(app, stage, {
    repository,
    subject: app.node.tryGetContext('pipelineSubject'),
    providerArn: app.node.tryGetContext('githubProviderArn'),
  })

/** Errors of settings are for a person, who needs no stack. */
function readStage() {
  try {
    return stageSettings(app.node.getContext('stage'), settingsIn(app.node.getAllContext()))
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exit(1)
  }
}
