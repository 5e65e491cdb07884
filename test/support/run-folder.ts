import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the run: for what its files share (`once-per-run.ts`), and for temporary folders of their own. */
    runFolder: string
  }
}

/** Makes the folder for the run, empties it before a rerun in watch mode, and removes it at the end. */
export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'clinic-test-run-'))
  const remove = (path: string) => rmSync(path, { recursive: true, force: true })
  project.provide('runFolder', folder)
  project.onTestsRerun(async () => {
    if (existsSync(folder)) for (const name of readdirSync(folder)) remove(join(folder, name))
  })
  return () => remove(folder)
}
