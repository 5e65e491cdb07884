/** The table of another folder of `npm start -- --data`, with which a restore of a clinic is rehearsed on the local stack. */
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { startDynamoDb } from '../../../infra/local/engines/dynamodb.ts'
import { openDataFolder } from '../../local/data-folder.ts'
import { connectLocalTable } from '../tool/connection.ts'
import { CommandFailure } from '../tool/output.ts'

/** Opens a copy of the folder in an engine of its own, until it is disposed of. @throws if a process uses it, or it has another format */
export async function openDataCopy(command: Command, folder: string) {
  await using opened = new AsyncDisposableStack()
  const table = await connectLocalTable(command, async () => {
    if (process.env.AWS_ENDPOINT_URL_DYNAMODB || !existsSync(join(folder, 'table.db')))
      throw new CommandFailure(`--from-data ${folder} has no data of "npm start -- --data".`)
    const copy = mkdtempSync(join(tmpdir(), 'clinic-data-'))
    opened.defer(() => rmSync(copy, { recursive: true }))
    const release = openDataFolder(folder)
    cpSync(folder, copy, { recursive: true })
    release()
    const engine = await startDynamoDb({ dataDir: copy, onUnexpectedExit: () => {} })
    opened.defer(() => engine.stop())
    return engine.endpoint
  })
  const kept = opened.move()
  return { table, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}
