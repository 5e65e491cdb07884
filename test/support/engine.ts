import type { TestProject } from 'vitest/node'
import { startDynamoDb } from '../../infra/local/engines/dynamodb.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the DynamoDB engine that the whole run shares; every test has a table of its own. */
    dynamodb: string
  }
}

/** Starts one engine, in memory, for the run: the one that the local runner uses. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const engine = await startDynamoDb({
    onUnexpectedExit: (message) => {
      throw new Error(message)
    },
  })
  project.provide('dynamodb', engine.endpoint)
  return engine.stop
}
