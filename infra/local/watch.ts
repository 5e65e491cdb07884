import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { basename, join } from 'node:path'
import { PROJECT } from './template/synthesize.ts'

const WATCHED = ['functions', 'shared', 'infra']
/** Editors write a file in several steps, and switching branches writes many files. */
const DEBOUNCE_MS = 150

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

/** Calls `onSave` after files are saved, one call at a time. Saves during a call cause one more call. */
export function watchSources(onSave: () => Promise<void>, root: string = PROJECT): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined
  let running = Promise.resolve()
  let stopped = false
  const debounce = () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      running = running.then(() => (stopped ? undefined : onSave()))
    }, DEBOUNCE_MS)
  }
  const stops = WATCHED.map((directory) =>
    watchFolder(join(root, directory), (file) => {
      if (/\.(ts|mjs|json)$/.test(file)) debounce()
    }),
  )
  return async () => {
    stopped = true
    clearTimeout(timer)
    for (const stop of stops) stop()
    await running
  }
}
