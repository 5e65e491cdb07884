import { Stack } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import { ImportedData } from '../data/data-stack.ts'
import { Monitoring } from '../monitoring/monitoring.ts'
import { apiName, functionName, monitoringStackName, queueName } from '../settings/names.ts'
import type { StageSettings } from '../settings/stages.ts'

/** Alarms, dashboard and saved queries. The stack knows the workers and the API by their names only. */
export class MonitoringStack extends Stack {
  constructor(scope: Construct, stage: StageSettings) {
    super(scope, monitoringStackName(stage.name), {
      description: 'Clinic Developer API: alarms, dashboard and saved queries',
      env: stage.env,
    })
    const { name, monitoring } = stage
    const data = new ImportedData(this, 'Stored', stage)
    new Monitoring(this, 'Monitoring', {
      settings: monitoring,
      watched: {
        stage: name,
        api: apiName(name),
        table: data.table.tableName,
        tableArn: data.table.tableArn,
        queueName: (queue) => queueName(name, queue),
        functionName: (worker) => functionName(name, worker),
        trail: [data.value('AccessTrailStream'), data.value('OperatorTrailStream')],
        functionLogs: (['EndpointLogGroup', 'PublicLogGroup', 'WorkerLogGroup'] as const).map((name) =>
          data.value(name),
        ),
        gatewayLogs: data.value('GatewayLogGroup'),
      },
    })
  }
}
