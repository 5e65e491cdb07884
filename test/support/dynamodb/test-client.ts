import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { documentClient } from '../../../shared/runtime/document-client.ts'
import { ENGINE_ACCESS } from '../engine-access.ts'
import { engineSockets } from '../realistic-dynamodb/engine-sockets.ts'
import { unsignedSender } from '../realistic-dynamodb/proxy-server.ts'
import { plainClient } from './plain-client.ts'

/** Whether the run has an engine that rejects and throttles calls, such as DynamoDB Local. */
const NEEDS_RETRIES = process.env.AWS_ENDPOINT_URL_DYNAMODB !== undefined

/**
 * A client without the SDK, which takes a fifth of its time. Tests write and read their data with it; the SDK's client is
 * what functions have, and what the tests of shared/store/table and of contention use.
 */
export const testClient = (endpoint: string): DynamoDBDocumentClient =>
  NEEDS_RETRIES
    ? documentClient({ endpoint, ...ENGINE_ACCESS, requestHandler: {} })
    : plainClient(unsignedSender(engineSockets(endpoint)))
