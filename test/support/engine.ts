import type { TestProject } from 'vitest/node'
import { startDynamoDb } from '../../infra/local/engines/dynamodb.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the DynamoDB engine that the run shares; every test file creates its own table. */
    dynamodb: string
  }
}

/** Starts one in-memory engine for the run, the same that the local runner uses. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const engine = await startDynamoDb({
    onUnexpectedExit: (message) => {
      throw new Error(message)
    },
  })
  project.provide('dynamodb', engine.endpoint)
  return engine.stop
}
