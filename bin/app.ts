import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { bundleFunctions, keptBundles } from '../infra/functions/bundles.ts'
import { settingsIn } from '../infra/settings/stage-file.ts'
import { stageSettings } from '../infra/settings/stages.ts'
import { addStacks, functionIds } from '../infra/stacks/deployment.ts'
import { PipelineStack } from '../infra/stacks/pipeline-stack.ts'

const app = new App()
const stage = stageSettings(app.node.getContext('stage'), settingsIn(app.node.getAllContext()))
const bundles = join(app.outdir, 'bundles')
const { TEST_RUN_BUNDLES } = process.env
// Nothing checks that kept bundles are of this code, so they are never deployed to production.
const code =
  TEST_RUN_BUNDLES && stage.kind !== 'production'
    ? keptBundles(functionIds(), bundles, TEST_RUN_BUNDLES)
    : bundleFunctions(functionIds(), bundles).code
addStacks(app, stage, code)
const repository = app.node.tryGetContext('pipelineRepository')
if (repository !== undefined)
  new PipelineStack(app, stage, {
    repository,
    subject: app.node.tryGetContext('pipelineSubject'),
    providerArn: app.node.tryGetContext('githubProviderArn'),
  })
