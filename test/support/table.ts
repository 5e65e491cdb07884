import { randomUUID } from 'node:crypto'
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { beforeAll, inject } from 'vitest'
import type { Clinic, ClinicId } from '../../shared/domain/clinic.ts'
import { NO_DETAILS, type Patient } from '../../shared/domain/patients/patient.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import type { WithUpdatedAt } from '../../shared/domain/with-updated-at.ts'
import { documentClient } from '../../shared/runtime/document-client.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'
import { testClient } from './dynamodb/test-client.ts'
import { ENGINE_ACCESS } from './engine-access.ts'

export type TestTable = {
  readonly name: string
  /** The SDK's client, as functions have it. */
  readonly client: DynamoDBDocumentClient
  /** The table through a client that takes a fifth of the SDK's time. */
  readonly table: Table
}

/** A client of the DynamoDB engine of the test run, without time limits: the machine may be busy. */
export const engineClient = (): DynamoDBDocumentClient =>
  documentClient({ ...engineSettings(), requestHandler: {} })

const engineSettings = () => ({ endpoint: engineEndpoint(), ...ENGINE_ACCESS })

/** @throws in a unit test: only the other tiers have an engine. */
function engineEndpoint(): string {
  const endpoint = inject('dynamodb')
  if (!endpoint) throw new Error('Unit tests have no database engine.')
  return endpoint
}

/** Creates an empty table for one test file on the real engine. */
export async function freshTable(called?: string): Promise<TestTable> {
  const raw = new DynamoDBClient(engineSettings())
  const name = await createTestTable(raw, called)
  raw.destroy()
  const client = engineClient()
  return { client, name, table: openTable(testClient(engineEndpoint()), name) }
}

/** A table of its own for the test file, which `open` makes before the hooks that follow. */
export function tableOfFile(open: () => Promise<TestTable> = () => freshTable()): TestTable {
  const db = {} as TestTable
  beforeAll(async () => void Object.assign(db, await open()))
  return db
}

/** The same with the table through the SDK's client. */
export async function freshSdkTable(): Promise<TestTable> {
  const { client, name } = await freshTable()
  return { client, name, table: openTable(client, name) }
}

/** Creates an empty table, and returns its name. */
export async function createTestTable(
  client: DynamoDBClient,
  name = `test-${randomUUID()}`,
): Promise<string> {
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['pk', 'sk'].map((key) => ({ AttributeName: key, AttributeType: 'S' })),
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    }),
  )
  return name
}

export const NOW = Date.parse('2026-05-01T07:00:00Z')

/** Creates a clinic in the table. */
export async function newClinic(table: Table, facts: Partial<Clinic> = {}): Promise<Clinic> {
  const clinic: Clinic = {
    id: newUuid() as ClinicId,
    name: 'Clinic',
    timezone: 'Europe/Istanbul',
    currency: 'EUR',
    appointmentMinutes: 30,
    createdAt: new Date(NOW).toISOString(),
    ...facts,
  }
  await clinicStore({ table }).create(clinic)
  return clinic
}

let counter = 0

/** A patient with unique values, except those in `facts`. */
export function aPatient(facts: Partial<Patient> = {}): WithUpdatedAt<Patient> {
  counter++
  return {
    id: newUuid(),
    firstName: `First${counter}`,
    lastName: `Last${counter}`,
    ...NO_DETAILS,
    dateOfBirth: '1980-01-02',
    gender: 'unknown',
    phoneNumber: `+90532${String(counter).padStart(7, '0')}`,
    emailAddress: `p${counter}@example.com`,
    createdAt: new Date(NOW).toISOString(),
    updatedAt: new Date(NOW).toISOString(),
    ...facts,
  }
}
