import { watch } from 'node:fs'
import { join } from 'node:path'
import { PROJECT } from './template/synthesize.ts'

const WATCHED = ['functions', 'shared', 'infra']
/** Editors write a file in several steps, and switching branches writes many files. */
const DEBOUNCE_MS = 150

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
  const watchers = WATCHED.map((directory) =>
    watch(join(root, directory), { recursive: true }, (_event, file) => {
      if (file && /\.(ts|mjs|json)$/.test(file)) debounce()
    }),
  )
  return async () => {
    stopped = true
    clearTimeout(timer)
    for (const watcher of watchers) watcher.close()
    await running
  }
}
