import { createHmac } from 'node:crypto'
import { DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, beforeEach } from 'vitest'
import { SCOPES } from '../../shared/domain/scope.ts'
import { stubFunctionEnvironment } from './functions.ts'
import { mockClient } from './mock-client.ts'

export const CLINIC = '6d0e2a7c-0000-4000-8000-000000000001'

/** The authorization header of the mocked credential. */
export const headers = { authorization: 'Developer ck_1:cs_1' }

const salt = Buffer.alloc(16, 1)

/** Mocks the DynamoDB client of functions so that before each test one credential exists. */
export function mockClientWithCredential(timezone: string, currency: string) {
  const dynamodb = mockClient(DynamoDBDocumentClient)
  const credential = {
    key: 'ck_1',
    salt,
    hash: createHmac('sha256', salt).update('cs_1').digest(),
    clinic: { id: CLINIC, name: 'C', timezone, currency },
    scopes: SCOPES,
    expiresAt: null,
    revokedAt: null,
  }
  beforeAll(() => stubFunctionEnvironment('clinic-table'))
  beforeEach(() => {
    dynamodb.reset()
    dynamodb.on(UpdateCommand).resolves({ Attributes: { n: 1 } })
    dynamodb
      .on(GetCommand, { Key: { pk: 'credential#ck_1', sk: 'credential' } })
      .resolves({ Item: credential })
  })
  return dynamodb
}
