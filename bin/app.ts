import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { bundleFunctions, keptBundles } from '../infra/bundles.ts'
import { addStacks, functionIds } from '../infra/deployment.ts'
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
const { KEPT_BUNDLES } = process.env
const code = KEPT_BUNDLES
  ? keptBundles(functionIds(), bundles, KEPT_BUNDLES)
  : bundleFunctions(functionIds(), bundles).code
addStacks(app, stage, code)
