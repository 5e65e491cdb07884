// `npm start`: installs the dependencies if necessary, and runs the API. Plain JavaScript, because the machine's own Node may be
// older than the one that npm installs.
import { readFileSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import { requireNode24 } from './node-24.mjs'

/** Prints what to do instead, and ends. */
function fail(text) {
  process.stderr.write(`${text}\n`)
  process.exit(1)
}

if (!import.meta.dirname) fail(`This needs Node 20.11 or later; Node ${process.versions.node} is running.`)
const help = readFileSync(join(import.meta.dirname, 'local/help.txt'), 'utf8')
// npm takes options before `--` for its own, and passes them in the environment.
const [taken] =
  [...help.matchAll(/--(?:no-)?([a-z-]+)/g)].find(
    ([, name]) => process.env[`npm_config_${name.replaceAll('-', '_')}`] !== undefined,
  ) ?? []
if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) {
  process.stdout.write(help)
} else {
  if (taken) fail(`npm has taken ${taken} for itself. Write -- before it: npm start -- ${taken}`)
  await import('./install.mjs')
  await requireNode24()
  module.enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compiled'))
  await import('./local.ts')
}
