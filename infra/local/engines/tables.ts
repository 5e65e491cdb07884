import {
  type AttributeDefinition,
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type KeySchemaElement,
  ResourceNotFoundException,
  type TableDescription,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import type { ResolvedResource, ResolvedTemplate } from '../template/template.ts'

type TableProperties = {
  AttributeDefinitions: AttributeDefinition[]
  KeySchema: KeySchemaElement[]
  GlobalSecondaryIndexes?: unknown
  LocalSecondaryIndexes?: unknown
  TimeToLiveSpecification?: { AttributeName: string; Enabled: boolean }
}

/** Creates the template's tables unless they exist. @throws Error for indexes, and if an existing table has other keys */
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
      const { GlobalSecondaryIndexes, LocalSecondaryIndexes } = table.properties
      if (GlobalSecondaryIndexes || LocalSecondaryIndexes)
        throw new Error(`${table.id} has indexes, which the local stack does not support.`)
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
): Promise<TableDescription> {
  const { AttributeDefinitions, KeySchema, TimeToLiveSpecification } = properties
  // No stream yet: it is enabled after the initial data is loaded, and only if a mapping reads it.
  const { TableDescription: created = {} } = await client.send(
    new CreateTableCommand({ TableName, AttributeDefinitions, KeySchema, BillingMode: 'PAY_PER_REQUEST' }),
  )
  if (TimeToLiveSpecification)
    await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }))
  return created
}

/** A persisted table with outdated keys would cause unclear errors later. */
function checkKeys(
  description: TableDescription,
  { properties }: ResolvedResource<TableProperties>,
  name: string,
): void {
  const wanted = keysOf(properties.KeySchema)
  const found = keysOf(description.KeySchema)
  if (wanted !== found)
    throw new Error(
      `The table ${name} exists with keys (${found}) that differ from the stack's (${wanted}). Choose another data directory, or delete this one.`,
    )
}

const keysOf = (schema: readonly KeySchemaElement[] = []): string =>
  schema.map(({ AttributeName }) => AttributeName).join('+')
