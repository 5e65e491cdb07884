import {
  type AttributeDefinition,
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type KeySchemaElement,
  type Projection,
  type ProvisionedThroughput,
  ResourceNotFoundException,
  type TableDescription,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import type { ResolvedResource, ResolvedTemplate } from '../template/template.ts'

type Index = { IndexName: string; KeySchema: KeySchemaElement[]; Projection: Projection }
type TableProperties = {
  TableName?: string
  AttributeDefinitions: AttributeDefinition[]
  KeySchema: KeySchemaElement[]
  BillingMode?: 'PAY_PER_REQUEST' | 'PROVISIONED'
  ProvisionedThroughput?: ProvisionedThroughput
  GlobalSecondaryIndexes?: (Index & { ProvisionedThroughput?: ProvisionedThroughput })[]
  LocalSecondaryIndexes?: Index[]
  TimeToLiveSpecification?: { AttributeName: string; Enabled: boolean }
}

/** Creates the template's tables unless they exist. @throws Error if an existing table has other keys */
export async function createTables(
  template: ResolvedTemplate,
  endpoint: string,
  region: string,
): Promise<void> {
  const tables = template.resourcesOf<TableProperties>('AWS::DynamoDB::Table')
  if (tables.length === 0) return
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const client = new DynamoDBClient({ endpoint, region, credentials })
  try {
    for (const table of tables) {
      const name = template.ref(table.id)
      const description = (await describe(client, name)) ?? (await create(client, name, table))
      checkKeys(description, table, name)
    }
  } finally {
    client.destroy()
  }
}

async function describe(client: DynamoDBClient, TableName: string): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName }))).Table
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined
    throw error
  }
}

async function create(
  client: DynamoDBClient,
  TableName: string,
  { properties }: ResolvedResource<TableProperties>,
) {
  const { TimeToLiveSpecification } = properties
  const { TableDescription: created } = await client.send(
    new CreateTableCommand({
      TableName,
      AttributeDefinitions: properties.AttributeDefinitions,
      KeySchema: properties.KeySchema,
      BillingMode: properties.BillingMode ?? 'PROVISIONED',
      ProvisionedThroughput: properties.ProvisionedThroughput,
      GlobalSecondaryIndexes: properties.GlobalSecondaryIndexes?.map((index) => ({
        ...indexInput(index),
        ProvisionedThroughput: index.ProvisionedThroughput,
      })),
      LocalSecondaryIndexes: properties.LocalSecondaryIndexes?.map(indexInput),
      // No stream yet: it is enabled after the initial data is loaded, and only if a mapping reads it.
    }),
  )
  if (TimeToLiveSpecification)
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }))
  return created ?? {}
}

/** CloudFormation's indexes have settings that CreateTable does not accept. */
const indexInput = ({ IndexName, KeySchema, Projection }: Index): Index => ({
  IndexName,
  KeySchema,
  Projection,
})

/** A persisted table with an outdated schema would cause unclear errors later. */
function checkKeys(
  description: TableDescription,
  { properties }: ResolvedResource<TableProperties>,
  name: string,
): void {
  const wanted = describeKeys(properties)
  const found = describeKeys(description)
  if (wanted !== found)
    throw new Error(
      `The table ${name} exists with keys or indexes (${found}) that differ from the stack's (${wanted}). Choose another data directory, or delete this one.`,
    )
}

type TableKeys = {
  KeySchema?: KeySchemaElement[] | undefined
  GlobalSecondaryIndexes?:
    | { IndexName?: string | undefined; KeySchema?: KeySchemaElement[] | undefined }[]
    | undefined
  LocalSecondaryIndexes?:
    | { IndexName?: string | undefined; KeySchema?: KeySchemaElement[] | undefined }[]
    | undefined
}

function describeKeys({
  KeySchema,
  GlobalSecondaryIndexes = [],
  LocalSecondaryIndexes = [],
}: TableKeys): string {
  const keys = (schema: KeySchemaElement[] = []) => schema.map(({ AttributeName }) => AttributeName).join('+')
  const indexes = [...GlobalSecondaryIndexes, ...LocalSecondaryIndexes]
    .map((index) => `${index.IndexName}: ${keys(index.KeySchema)}`)
    .sort()
  return [keys(KeySchema), ...indexes].join(', ')
}
