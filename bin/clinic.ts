/** The operator tool: `npm run clinic -- --help`. Works on a deployed stack and on a running local one alike. */

import { text } from 'node:stream/consumers'
import { runOperatorTool } from './clinic/program.ts'
import { askOn } from './clinic/tool/confirmation.ts'

// The reader of a pipe, such as `head`, may not wait for all. The command continues to its end.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

process.exitCode = await runOperatorTool(process.argv.slice(2), {
  env: process.env,
  writeOut: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  readInput: () => text(process.stdin),
  ask: process.stdin.isTTY && process.stderr.isTTY ? askOn(process.stdin, process.stderr) : undefined,
})
