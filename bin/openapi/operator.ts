import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** Runs the operator tool against the local stack on `port`, for one clinic. */
export function operator(port: string, clinic: string) {
  async function run(...args: string[]): Promise<Record<string, unknown>> {
    // `clinic set` takes the clinic as an argument, every other command as an option.
    const clinicArguments = args[0] === 'clinic' ? [clinic] : ['--clinic', clinic]
    const { stdout } = await execute(process.execPath, [
      'bin/clinic.ts',
      '--port',
      port,
      '--json',
      ...args,
      ...clinicArguments,
    ])
    return JSON.parse(stdout)
  }

  /** Imports rows of one entity, with events. */
  async function importRows(entity: string, rows: readonly object[]): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'clinic-openapi-'))
    try {
      const file = join(folder, `${entity}.ndjson`)
      writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
      await run('import', file, '--events')
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  return { run, importRows }
}

export type Operator = ReturnType<typeof operator>
