import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type EngineProcess, startEngineProcess } from './engine-process.ts'

type Options = { readonly dataDir?: string | undefined; readonly onDeath: (message: string) => void }

/** DynamoDB for the stack: dynoxide, in memory or in `dataDir`, or what AWS_ENDPOINT_URL_DYNAMODB names. */
export async function startDynamoDb({ dataDir, onDeath }: Options): Promise<EngineProcess> {
  const given = process.env.AWS_ENDPOINT_URL_DYNAMODB
  if (given) return { endpoint: given, stop: async () => {} }
  const binary = findBinary()
  if (dataDir) await mkdir(dataDir, { recursive: true })
  const store = dataDir ? ['--db-path', join(dataDir, 'table.db')] : []
  return startEngineProcess({
    name: 'The DynamoDB engine',
    binary,
    args: (port) => ['serve', '--host', '127.0.0.1', '--port', String(port), ...store],
    onDeath,
  })
}

function findBinary(): string {
  const name = `@dynoxide/${process.platform}-${process.arch}`
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
    return join(dirname(manifest), process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide')
  } catch {
    throw new Error(
      `No DynamoDB engine for this machine: run "npm install --no-save ${name}", or set AWS_ENDPOINT_URL_DYNAMODB to a DynamoDB of your own.`,
    )
  }
}
