import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { bundleFunctions } from '../infra/bundles.ts'
import { ClinicStack, functionIds } from '../infra/clinic-stack.ts'
import { SmsReceiptsStack } from '../infra/sms-receipts-stack.ts'
import { stageSettings } from '../infra/stages.ts'

const app = new App()
const context = <T extends string | undefined>(name: string): T => app.node.tryGetContext(name)
const stage = stageSettings(app.node.getContext('stage'), {
  emailFrom: context('emailFrom'),
  smsSenderId: context('smsSenderId'),
  accessRetentionDays: context('accessRetentionDays'),
  cell: context('cell'),
  emailsPerSecond: context('emailsPerSecond'),
  accountConcurrency: context('accountConcurrency'),
  warmReads: context('warmReads'),
  warmWrites: context('warmWrites'),
})
const { code } = bundleFunctions(functionIds(), join(app.outdir, 'bundles'))
const { messaging } = new ClinicStack(app, stage, code)
const smsReceipts = context('smsReceipts')
if (smsReceipts !== undefined && smsReceipts !== 'on' && smsReceipts !== 'off')
  throw new Error('smsReceipts must be "on" or "off".')
if (smsReceipts === 'on') new SmsReceiptsStack(app, stage.name, messaging.smsReceipts)
