import { createHash, randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, statfs } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { type EngineProcess, startEngineProcess } from './engine-process.ts'
import { prepareStreams } from './stream-index.ts'

type Options = {
  readonly dataDir?: string | undefined
  /** Tables will have streams, of any length. */
  readonly streams?: boolean
  readonly onUnexpectedExit: (message: string) => void
}

export type DynamoDbEngine = EngineProcess & {
  /** What the names of a stack's tables must end with. Empty unless other stacks may have tables there. */
  readonly tableSuffix: string
}

/** DynamoDB for the stack: dynoxide, in memory or in `dataDir`, or what AWS_ENDPOINT_URL_DYNAMODB names. */
export async function startDynamoDb({
  dataDir,
  streams = false,
  onUnexpectedExit: onDeath,
}: Options): Promise<DynamoDbEngine> {
  const externalEndpoint = process.env.AWS_ENDPOINT_URL_DYNAMODB
  if (externalEndpoint)
    return { endpoint: externalEndpoint, stop: async () => {}, tableSuffix: sharedTableSuffix(dataDir) }
  const binary = findBinary()
  if (dataDir) await mkdir(dataDir, { recursive: true })
  const temporaryFolder = streams && !dataDir ? await memoryFolder() : undefined
  const folder = dataDir ?? temporaryFolder
  const file = folder && join(folder, 'table.db')
  try {
    const engine = await startEngineProcess({
      name: 'The DynamoDB engine',
      binary,
      args: (port) => [
        'serve',
        ...['--host', '127.0.0.1', '--port', String(port)],
        ...(file ? ['--db-path', file] : []),
      ],
      onUnexpectedExit: onDeath,
    })
    try {
      if (streams && file) prepareStreams(file)
    } catch (error) {
      await engine.stop()
      throw error
    }
    return { ...engine, tableSuffix: '' }
  } finally {
    // The engine has its files open, so they last as long as it does, and however it ends nothing stays behind.
    if (temporaryFolder) await rm(temporaryFolder, { recursive: true })
  }
}

/** The same for the same data directory, so that its table is found again; otherwise a new one for each start. */
function sharedTableSuffix(dataDir: string | undefined): string {
  const id = dataDir === undefined ? randomUUID() : createHash('sha256').update(dataDir).digest('hex')
  return `-${id.slice(0, 8)}`
}

const SHARED_MEMORY_PATH = '/dev/shm'
/** Less is common in containers, and a table may get large. */
const MIN_FREE_BYTES = 2 ** 31

/**
 * A folder that is in memory, since only what is in a file can be prepared for streams; undefined where there is none,
 * or little room. There the engine keeps all in memory itself, and gets slower as a stream gets longer.
 */
async function memoryFolder(): Promise<string | undefined> {
  try {
    const { bavail, bsize } = await statfs(SHARED_MEMORY_PATH)
    return bavail * bsize < MIN_FREE_BYTES
      ? undefined
      : await mkdtemp(join(SHARED_MEMORY_PATH, 'clinic-local-'))
  } catch {
    return undefined
  }
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
