import { Stack } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { ImportedData } from '../data/data-stack.ts'
import type { FunctionCode } from '../functions/bundles.ts'
import { Events } from '../messaging/events.ts'
import { Maintenance } from '../messaging/maintenance.ts'
import { Messaging } from '../messaging/messaging.ts'
import { workersStackName } from '../settings/names.ts'
import type { StageSettings } from '../settings/stages.ts'

/** Queues, schedules, and the functions that no request invokes. */
export class WorkersStack extends Stack {
  constructor(scope: Construct, stage: StageSettings, code: FunctionCode) {
    super(scope, workersStackName(stage.name), {
      description: 'Clinic Developer API: queues and workers',
      env: stage.env,
      terminationProtection: stage.deletionProtection,
    })
    const data = new ImportedData(this, 'Stored', stage)
    const props = { stage, code, data, logs: data.logGroup('WorkerLogGroup') }
    new Messaging(this, 'Messaging', props)
    new Events(this, 'Events', props)
    new Maintenance(this, 'Maintenance', props)
  }
}
