#!/usr/bin/env node
/** The operator tool: `npm run clinic -- --help`. Works on a deployed stack and on a running local one alike. */

import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

// Node's own exit code for an error, 1, means that a command is done.
process.once('uncaughtException', (error) => {
  process.stderr.write(`${error.stack}\n`)
  process.exit(4)
})
// The reader of a pipe, such as `head`, may not wait for all. The command continues to its end.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

// It concerns modules that are loaded from here on.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/clinic'))
const { runOperatorTool } = await import('./clinic/program.ts')
const { askOn } = await import('./clinic/tool/confirmation.ts')

process.exitCode = await runOperatorTool(process.argv.slice(2), {
  env: process.env,
  writeOut: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  readInput: () => text(process.stdin),
  ask: process.stdin.isTTY && process.stderr.isTTY ? askOn(process.stdin, process.stderr) : undefined,
})
