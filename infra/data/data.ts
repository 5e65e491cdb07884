import {
  AttributeType,
  BillingMode,
  type ITable,
  StreamViewType,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb'
import { type IKey, Key } from 'aws-cdk-lib/aws-kms'
import { Construct } from 'constructs'
import { STREAM_VIEW, TTL } from '../../shared/store/keys/key.ts'
import type { StageSettings, Throughput } from '../settings/stages.ts'

/** The single table and the key that encrypts it. */
export type Data = { readonly table: ITable; readonly key: IKey }

export class ClinicTable extends Construct implements Data {
  /** TableV2 cannot be synthesized with a customer-managed key unless the stack names a region. */
  readonly table: Table
  readonly key: Key

  constructor(scope: Construct, id: string, stage: StageSettings) {
    super(scope, id)
    this.key = new Key(this, 'TableKey', {
      description: 'Encrypts the clinic table',
      enableKeyRotation: true,
      removalPolicy: stage.removalPolicy,
    })
    this.table = new Table(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      ...(stage.provisioned
        ? {
            billingMode: BillingMode.PROVISIONED,
            readCapacity: stage.provisioned.reads,
            writeCapacity: stage.provisioned.writes,
          }
        : { billingMode: BillingMode.PAY_PER_REQUEST }),
      encryption: TableEncryption.CUSTOMER_MANAGED,
      encryptionKey: this.key,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      stream: StreamViewType[STREAM_VIEW],
      timeToLiveAttribute: TTL,
      ...(stage.warmThroughput && {
        warmThroughput: {
          readUnitsPerSecond: stage.warmThroughput.reads,
          writeUnitsPerSecond: stage.warmThroughput.writes,
        },
      }),
      deletionProtection: stage.deletionProtection,
      removalPolicy: stage.removalPolicy,
    })
    if (stage.provisioned) scale(this.table, stage.provisioned)
  }
}

/** DynamoDB's default quota of a table. */
export const TABLE_QUOTA = 40_000

/** The share of provisioned units that auto scaling aims at, in percent. */
export const TARGET_UTILIZATION = 70

function scale(table: Table, { reads, writes }: Throughput): void {
  const target = { targetUtilizationPercent: TARGET_UTILIZATION }
  table.autoScaleReadCapacity({ minCapacity: reads, maxCapacity: TABLE_QUOTA }).scaleOnUtilization(target)
  table.autoScaleWriteCapacity({ minCapacity: writes, maxCapacity: TABLE_QUOTA }).scaleOnUtilization(target)
}
