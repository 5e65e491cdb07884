import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { basename, join } from 'node:path'

/**
 * Calls `onChange` with each file below a folder that is written, replaced or removed. Each folder is watched by itself: on Linux, Node's
 * recursive watch loses a file that an editor replaces by another one.
 */
export function watchFolder(root: string, onChange: (file: string) => void): () => void {
  const watchers = new Map<string, FSWatcher>()
  const add = (folder: string): void => {
    if (watchers.has(folder) || basename(folder) === 'node_modules') return
    const watcher = watch(folder, (_, name) => {
      const path = join(folder, name ?? '')
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) add(path)
      else onChange(path)
    })
    watchers.set(folder, watcher)
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory()) add(join(folder, entry.name))
  }
  add(root)
  return () => {
    for (const watcher of watchers.values()) watcher.close()
  }
}
