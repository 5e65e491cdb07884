/** The calls by which a table is restored, and that its settings are the settings of the template. */
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ListTagsOfResourceCommand,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { beforeEach, expect, it } from 'vitest'
import { configureTable, restoreTable } from '../../../../shared/maintenance/restore/restored-table.ts'
import { mockClient } from '../../../support/mock-client.ts'
import { templateOf } from '../../../support/template.ts'

const AT = new Date('2026-11-22T10:00:00Z')
const KEY = 'arn:aws:kms:eu-central-1:123456789012:key/k'
const STREAM = '2026-11-22T12:00:00.000'
const notFound = new ResourceNotFoundException({ message: 'none', $metadata: {} })

const mock = mockClient(DynamoDBDocumentClient)
const client = DynamoDBDocumentClient.from(new DynamoDBClient({}))
const slept: number[] = []
const platform = {
  client,
  sleep: async (ms: number) => void slept.push(ms),
  onProgress: () => {},
}

beforeEach(() => {
  mock.reset()
  slept.length = 0
  mock.on(DescribeTableCommand, { TableName: 'clinics' }).resolves({
    Table: {
      TableArn: 'arn:clinics',
      TableStatus: 'ACTIVE',
      DeletionProtectionEnabled: true,
      SSEDescription: { KMSMasterKeyArn: KEY },
      WarmThroughput: { ReadUnitsPerSecond: 40_000, WriteUnitsPerSecond: 4000, Status: 'ACTIVE' },
    },
  })
  const WarmThroughput = { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 5000 }
  const restored = { TableArn: 'arn:restored', LatestStreamLabel: STREAM, WarmThroughput }
  mock
    .on(DescribeTableCommand, { TableName: 'restored' })
    .rejectsOnce(notFound)
    .resolvesOnce({ Table: { ...restored, TableStatus: 'CREATING' } })
    .resolves({ Table: { ...restored, TableStatus: 'ACTIVE' } })
  mock.on(DescribeTimeToLiveCommand).resolves({ TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' } })
  mock.on(ListTagsOfResourceCommand).resolves({
    Tags: [
      { Key: 'service', Value: 'clinic-developer-api' },
      { Key: 'aws:cloudformation:stack-name', Value: 'ClinicDeveloperApi-prod' },
    ],
  })
})

const calls = () => mock.calls().map(({ args: [command] }) => command)
const inputsOf = (kind: abstract new (input: never) => unknown) =>
  calls().flatMap((command) => (command instanceof kind ? [command.input] : []))

it('restores with the key of the table in use, and waits until the table can be used', async () => {
  const restored = await restoreTable(platform, { source: 'clinics', name: 'restored', at: AT })
  expect(restored).toEqual({ name: 'restored', stream: STREAM })
  expect(inputsOf(RestoreTableToPointInTimeCommand)).toEqual([
    {
      SourceTableArn: 'arn:clinics',
      TargetTableName: 'restored',
      RestoreDateTime: AT,
      SSESpecificationOverride: { Enabled: true, SSEType: 'KMS', KMSMasterKeyId: KEY },
    },
  ])
  expect(slept.length).toBe(1)
})

it('sets the settings that the template of prod has, and the tags of the table in use', async () => {
  await restoreTable(platform, { source: 'clinics', name: 'restored', at: AT })
  const [properties] = Object.values(
    templateOf('prod', { protection: 'on' }).findResources('AWS::DynamoDB::Table'),
  ).map((table) => table.Properties)
  expect(inputsOf(UpdateTimeToLiveCommand)).toMatchObject([
    { TimeToLiveSpecification: properties.TimeToLiveSpecification },
  ])
  const [stream, protection, warm] = inputsOf(UpdateTableCommand)
  expect(stream).toMatchObject({
    StreamSpecification: { StreamEnabled: true, ...properties.StreamSpecification },
  })
  expect(protection).toMatchObject({ DeletionProtectionEnabled: properties.DeletionProtectionEnabled })
  // It can only grow.
  expect(warm).toMatchObject({ WarmThroughput: { ReadUnitsPerSecond: 40_000, WriteUnitsPerSecond: 5000 } })
  expect(inputsOf(UpdateContinuousBackupsCommand)).toMatchObject([
    { PointInTimeRecoverySpecification: properties.PointInTimeRecoverySpecification },
  ])
  expect(inputsOf(TagResourceCommand)).toEqual([
    { ResourceArn: 'arn:restored', Tags: [{ Key: 'service', Value: 'clinic-developer-api' }] },
  ])
  // A setting that the template has, and that DynamoDB does not restore, would be missing.
  expect(Object.keys(properties).sort()).toEqual([
    'AttributeDefinitions',
    'BillingMode',
    'DeletionProtectionEnabled',
    'KeySchema',
    'PointInTimeRecoverySpecification',
    'SSESpecification',
    'StreamSpecification',
    'Tags',
    'TimeToLiveSpecification',
  ])
})

it.each([
  [{ RestoreDateTime: new Date('2026-11-22T11:00:00Z') }, 'restored to 2026-11-22T11:00:00.000Z'],
  [undefined, 'is not known to be restored'],
])('rejects a table that exists with the restore %j', async (summary, message) => {
  const RestoreSummary = summary && { ...summary, RestoreInProgress: false }
  mock
    .on(DescribeTableCommand, { TableName: 'restored' })
    .resolves({ Table: { TableName: 'restored', TableStatus: 'ACTIVE', RestoreSummary } })
  const restoring = restoreTable(platform, { source: 'clinics', name: 'restored', at: AT })
  await expect(restoring).rejects.toThrow(message)
  expect(inputsOf(UpdateTableCommand)).toEqual([])
})

it('restores nothing, and repeats no setting, when it is repeated', async () => {
  mock.on(DescribeTableCommand, { TableName: 'restored' }).resolves({
    Table: {
      RestoreSummary: { RestoreDateTime: AT, RestoreInProgress: false },
      TableArn: 'arn:restored',
      TableStatus: 'ACTIVE',
      LatestStreamLabel: STREAM,
      StreamSpecification: { StreamEnabled: true },
      DeletionProtectionEnabled: true,
      WarmThroughput: { ReadUnitsPerSecond: 40_000, WriteUnitsPerSecond: 4000 },
    },
  })
  mock.on(DescribeTimeToLiveCommand).resolves({ TimeToLiveDescription: { TimeToLiveStatus: 'ENABLING' } })
  await restoreTable(platform, { source: 'clinics', name: 'restored', at: AT })
  expect(inputsOf(RestoreTableToPointInTimeCommand)).toEqual([])
  expect([...inputsOf(UpdateTableCommand), ...inputsOf(UpdateTimeToLiveCommand)]).toEqual([])
})

it('protects a table whose source is lost, and has no tags to copy', async () => {
  mock
    .on(DescribeTableCommand, { TableName: 'restored' })
    .resolves({ Table: { TableArn: 'arn:restored', TableStatus: 'ACTIVE', LatestStreamLabel: STREAM } })
  await configureTable(platform, { name: 'restored', source: null })
  expect(inputsOf(UpdateTableCommand)).toContainEqual({
    TableName: 'restored',
    DeletionProtectionEnabled: true,
  })
  expect(inputsOf(TagResourceCommand)).toEqual([])
})
