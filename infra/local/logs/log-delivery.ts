import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogFilter } from './log-filters.ts'

/**
 * Delivers lines of log groups, as subscription filters and delivery streams do: appends the matching ones to `<folder>.ndjson` in the
 * data directory, or in a temporary one.
 */
export function openLogDelivery(filters: readonly LogFilter[], dataDir?: string) {
  const directory = dataDir ?? mkdtempSync(join(tmpdir(), 'clinic-logs-'))
  const fileOf = (folder: string) => join(directory, `${folder}.ndjson`)
  const folders = new Set(filters.map(({ folder }) => folder))
  const files = new Map([...folders].map((folder) => [folder, openSync(fileOf(folder), 'a', 0o600)]))
  let closed = false

  return {
    /** Writes lines to a log group. Those that match a filter are in its file when this returns. */
    write: (logGroup: string, text: string) => {
      const subscribed = filters.filter((filter) => filter.logGroup === logGroup)
      if (closed || subscribed.length === 0) return
      for (const line of text.split('\n'))
        for (const { matches, folder } of subscribed)
          if (matches(line)) writeSync(files.get(folder) as number, `${line}\n`)
    },
    /** The files by folder of the bucket. */
    files: (): Record<string, string> =>
      Object.fromEntries([...files.keys()].map((folder) => [folder, fileOf(folder)])),
    close: () => {
      closed = true
      for (const file of files.values()) closeSync(file)
      if (dataDir === undefined) rmSync(directory, { recursive: true, force: true })
    },
  }
}
