// `npm start`: installs the dependencies if necessary, and runs the API. Plain JavaScript, because the machine's own Node may be
// older than the one that npm installs.
import { readFileSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { requireNode24 } from './node-24.mjs'

if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) {
  process.stdout.write(readFileSync(join(import.meta.dirname, 'local/help.txt'), 'utf8'))
} else {
  await import('./install.mjs')
  await requireNode24()
  module.enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compiled'))
  await import('./local.ts')
}
