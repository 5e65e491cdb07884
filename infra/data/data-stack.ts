import { CfnOutput, Fn, Stack } from 'aws-cdk-lib'
import { Table } from 'aws-cdk-lib/aws-dynamodb'
import { Key } from 'aws-cdk-lib/aws-kms'
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { dataStackName } from '../settings/names.ts'
import type { StageSettings } from '../settings/stages.ts'
import { AccessTrail } from './access-trail.ts'
import { ClinicTable, type Data } from './data.ts'
import { logGroup } from './observability.ts'

/** Values that the stack always exports, whether or not another stack imports them. */
const EXPORTS = [
  'TableName',
  'TableStreamArn',
  'TableKeyArn',
  'EndpointLogGroup',
  'PublicLogGroup',
  'WorkerLogGroup',
  'GatewayLogGroup',
  'OperatorLogGroup',
  'AccessTrailBucket',
  'AccessTrailStream',
  'OperatorTrailStream',
] as const

type ExportName = (typeof EXPORTS)[number]

const exportName = (stage: StageSettings, name: ExportName): string => `${dataStackName(stage.name)}:${name}`

/**
 * Everything that is retained: the table and its key, the access trail, and all log groups. No deployment of code
 * changes this stack.
 */
export class DataStack extends Stack {
  constructor(scope: Construct, stage: StageSettings) {
    super(scope, dataStackName(stage.name), {
      description: 'Clinic Developer API: table, access trail and logs',
      env: stage.env,
      terminationProtection: stage.deletionProtection,
    })
    const { table, key } = new ClinicTable(this, 'Data', stage)
    const trail = new AccessTrail(this, 'AccessTrail', stage)
    const endpointLogs = logGroup(this, 'EndpointLogs', stage)
    trail.follow(endpointLogs)
    const values: Record<ExportName, string> = {
      TableName: table.tableName,
      TableStreamArn: table.tableStreamArn ?? '',
      TableKeyArn: key.keyArn,
      EndpointLogGroup: endpointLogs.logGroupName,
      PublicLogGroup: logGroup(this, 'PublicLogs', stage).logGroupName,
      WorkerLogGroup: logGroup(this, 'WorkerLogs', stage).logGroupName,
      GatewayLogGroup: logGroup(this, 'GatewayLogs', stage).logGroupName,
      OperatorLogGroup: trail.operatorLog.logGroupName,
      AccessTrailBucket: trail.bucket.bucketName,
      AccessTrailStream: trail.streamNames.requests,
      OperatorTrailStream: trail.streamNames.operator,
    }
    for (const name of EXPORTS)
      new CfnOutput(this, name, { value: values[name], exportName: exportName(stage, name) })
  }
}

/**
 * The data, as a stack of code refers to it: by explicit imports of what the data stack always exports. A table that was adopted
 * is named in the settings, so that the exports of the data stack, which are in use, do not change.
 */
export class ImportedData extends Construct implements Data {
  readonly table: Data['table']
  readonly key: Data['key']
  readonly #stage: StageSettings

  constructor(scope: Construct, id: string, stage: StageSettings) {
    super(scope, id)
    this.#stage = stage
    const { adoptedTable } = stage.recovery
    const arnOf = (service: string, resource: string, resourceName: string): string =>
      Stack.of(this).formatArn({ service, resource, resourceName })
    this.key = Key.fromKeyArn(
      this,
      'TableKey',
      adoptedTable?.key ? arnOf('kms', 'key', adoptedTable.key) : this.value('TableKeyArn'),
    )
    this.table = Table.fromTableAttributes(this, 'Table', {
      tableName: adoptedTable?.name ?? this.value('TableName'),
      tableStreamArn: adoptedTable
        ? arnOf('dynamodb', 'table', `${adoptedTable.name}/stream/${adoptedTable.stream}`)
        : this.value('TableStreamArn'),
      encryptionKey: this.key,
    })
  }

  value(name: ExportName): string {
    return Fn.importValue(exportName(this.#stage, name))
  }

  logGroup(name: Extract<ExportName, `${string}LogGroup`>): ILogGroup {
    const found = this.node.tryFindChild(name) as ILogGroup | undefined
    return found ?? LogGroup.fromLogGroupName(this, name, this.value(name))
  }
}
