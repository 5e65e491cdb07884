/** Builds what npm publishes into dist/: the server, and the tools and error texts that it reads. `npm pack` runs it. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { buildSync } from 'esbuild'
import { ERROR_KEYS, errorEntry } from '../../api/error-catalogue.ts'
import { REMEDIES } from '../../reference/remedies.ts'
import { assistantTools, type Generated } from './assistant-tools.ts'

process.chdir(import.meta.dirname)
rmSync('dist', { recursive: true, force: true })
mkdirSync('dist')

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
const generated: Generated = {
  version: read('package.json').version,
  tools: assistantTools(read('../../../docs/openapi.json')),
  errorTexts: Object.fromEntries(ERROR_KEYS.map((key) => [key, `${errorEntry(key).text} ${REMEDIES[key]}`])),
}
writeFileSync('dist/tools.json', JSON.stringify(generated))

buildSync({
  entryPoints: ['server.ts'],
  bundle: true,
  packages: 'external',
  platform: 'node',
  target: 'node20',
  format: 'esm',
  outfile: 'dist/server.mjs',
})
