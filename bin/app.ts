import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { bundleFunctions } from '../infra/bundles.ts'
import { ClinicStack, functionIds } from '../infra/clinic-stack.ts'
import { stageSettings } from '../infra/stages.ts'

const app = new App()
const stage = stageSettings(app.node.getContext('stage'))
const { code } = bundleFunctions(functionIds(), join(app.outdir, 'bundles'))
new ClinicStack(app, stage, code)
