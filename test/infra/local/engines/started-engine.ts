import { execFileSync } from 'node:child_process'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { onTestFinished } from 'vitest'
import { startDynamoDb } from '../../../../infra/local/engines/dynamodb.ts'
import { ENGINE_ACCESS } from '../../../support/engine-access.ts'

/** A DynamoDB engine, in a data folder if given, with a client of it, until the test ends. */
export async function startedEngine(dataDir?: string, streams = false) {
  const deaths: string[] = []
  const engine = await startDynamoDb({
    dataDir,
    streams,
    onUnexpectedExit: (message) => deaths.push(message),
  })
  const client = new DynamoDBClient({ ...ENGINE_ACCESS, endpoint: engine.endpoint })
  onTestFinished(async () => {
    client.destroy()
    await engine.stop()
  })
  return { engine, client, deaths }
}

/** The process id of the DynamoDB engine behind an endpoint, or undefined when it has ended. */
export function enginePid(endpoint: string): number | undefined {
  const { port } = new URL(endpoint)
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n')
  const line = processes.find((found) => found.includes('dynoxide serve') && found.includes(`--port ${port}`))
  return line === undefined ? undefined : Number.parseInt(line, 10)
}
