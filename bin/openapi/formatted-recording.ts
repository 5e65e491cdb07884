import { execFileSync } from 'node:child_process'
import { recordingNodeOptions } from './recording-clock.ts'

/** Records the examples; returns them as `file` holds them, formatted as every file of the project. */
export function formattedRecording(file: string): string {
  const recorded = execFileSync(
    process.execPath,
    [new URL('./record-examples.ts', import.meta.url).pathname],
    {
      env: { ...process.env, NODE_OPTIONS: recordingNodeOptions(Date.now()) },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  return execFileSync('biome', ['format', `--stdin-file-path=${file}`], { input: recorded, encoding: 'utf8' })
}
