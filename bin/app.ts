import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { functionCode } from '../infra/functions/bundles.ts'
import { KeptFiles } from '../infra/kept/kept-files.ts'
import { settingsIn } from '../infra/settings/stage-file.ts'
import { stageSettings } from '../infra/settings/stages.ts'
import { addStacks, functionIds } from '../infra/stacks/deployment.ts'
import { PipelineStack } from '../infra/stacks/pipeline-stack.ts'

const app = new App()
const stage = stageSettings(app.node.getContext('stage'), settingsIn(app.node.getAllContext()))
const { KEPT_BUNDLES } = process.env
// What is deployed to production is always made.
const kept = KEPT_BUNDLES && stage.kind !== 'production' ? new KeptFiles(KEPT_BUNDLES) : undefined
const code = await functionCode(functionIds(), join(app.outdir, 'bundles'), kept)
addStacks(app, stage, code)
const repository = app.node.tryGetContext('pipelineRepository')
if (repository !== undefined)
  new PipelineStack(app, stage, {
    repository,
    subject: app.node.tryGetContext('pipelineSubject'),
    providerArn: app.node.tryGetContext('githubProviderArn'),
  })
