import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { bundleFunctions } from '../infra/bundles.ts'
import { addStacks, functionIds } from '../infra/deployment.ts'
import { keptBundles } from '../infra/kept-bundles.ts'
import { stageSettings } from '../infra/stages.ts'

const app = new App()
const context = <T extends string | undefined>(name: string): T => app.node.tryGetContext(name)
const stage = stageSettings(app.node.getContext('stage'), {
  emailFrom: context('emailFrom'),
  smsSenderId: context('smsSenderId'),
  smsReceipts: context('smsReceipts'),
  accessRetentionDays: context('accessRetentionDays'),
  cell: context('cell'),
  emailsPerSecond: context('emailsPerSecond'),
  accountConcurrency: context('accountConcurrency'),
  warmReads: context('warmReads'),
  warmWrites: context('warmWrites'),
})
const bundles = join(app.outdir, 'bundles')
const { TEST_RUN_BUNDLES } = process.env
const code = TEST_RUN_BUNDLES
  ? keptBundles(functionIds(), bundles, TEST_RUN_BUNDLES)
  : bundleFunctions(functionIds(), bundles).code
addStacks(app, stage, code)
