import { createHash, randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, rm, statfs } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type EngineProcess, startEngineProcess } from './engine-process.ts'

type Options = {
  readonly dataDir?: string | undefined
  /** Prepares the engine for streams with many records. */
  readonly streams?: boolean
  readonly onUnexpectedExit: (message: string) => void
}

export type DynamoDbEngine = EngineProcess & {
  /** The suffix of the stack's table names. Empty unless other stacks may have tables in the same DynamoDB. */
  readonly tableSuffix: string
}

/** Starts dynoxide, in memory or on `dataDir`; or uses the DynamoDB at AWS_ENDPOINT_URL_DYNAMODB if that is set. */
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
        '--host',
        '127.0.0.1',
        '--port',
        String(port),
        ...(file ? ['--db-path', file] : []),
      ],
      onUnexpectedExit: onDeath,
    })
    try {
      // The file of an engine in memory is removed at once.
      if (streams && file) prepareStreams(file)
      return { ...engine, tableSuffix: '' }
    } catch (error) {
      await engine.stop()
      throw error
    }
  } finally {
    // The engine has its files open, so they exist until it ends, and no file remains however it ends.
    if (temporaryFolder) await rm(temporaryFolder, { recursive: true })
  }
}

/**
 * Keeps the engine fast with long streams, by adding an index to its database. Without it the engine scans all records
 * of a stream for every write and read, and it never deletes records: after 30,000 of them, a transaction of eight
 * writes takes 15 ms instead of 1 ms.
 *
 * Also deletes the records of earlier runs, except for the last of each table, which sequence numbers continue from.
 * No function reads them again; sweeps find the unprocessed ones.
 */
function prepareStreams(file: string): void {
  const database = new DatabaseSync(file, { timeout: 5000 })
  try {
    database.exec(`
      CREATE INDEX IF NOT EXISTS _stream_order ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
      DELETE FROM _stream_records WHERE id NOT IN (SELECT MAX(id) FROM _stream_records GROUP BY table_name);
    `)
  } finally {
    database.close()
  }
}

/** Depends on the data directory, so that the next start finds its table. Without one, it differs for each start. */
function sharedTableSuffix(dataDir: string | undefined): string {
  const id = dataDir === undefined ? randomUUID() : createHash('sha256').update(dataDir).digest('hex')
  return `-${id.slice(0, 8)}`
}

const SHARED_MEMORY_PATH = '/dev/shm'
/** Containers often have less, which a large table could fill up. */
const MIN_FREE_BYTES = 2 ** 31

/**
 * Creates a folder in memory, since streams can be prepared only in a database file. Returns undefined where no such
 * file system exists or has enough space; the engine then has the data in its own memory, and gets slower as a stream
 * gets longer.
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
      `No DynamoDB engine is installed for this machine. Run "npm install --no-save ${name}", or set AWS_ENDPOINT_URL_DYNAMODB to the address of another DynamoDB.`,
    )
  }
}
