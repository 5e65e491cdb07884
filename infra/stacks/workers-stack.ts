import { Stack } from 'aws-cdk-lib'
import { Construct } from 'constructs'
import { ImportedData } from '../data/data-stack.ts'
import type { FunctionCode } from '../functions/bundles.ts'
import { WorkerFunctions } from '../functions/worker-functions.ts'
import { Events } from '../messaging/events.ts'
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
    // Keeps the table compact: the shards of a tally, which writers that collide use, are merged when it is quiet.
    const maintenance = new Construct(this, 'Maintenance')
    new WorkerFunctions(maintenance, 'maintenance', { ...props, services: {} }).everyMinute()
  }
}
