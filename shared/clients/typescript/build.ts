/** Builds what npm publishes into dist/: CommonJS, an ES module that exports the same, and declarations. `npm pack` runs it. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { buildSync } from 'esbuild'

process.chdir(import.meta.dirname)
rmSync('dist', { recursive: true, force: true })

// For Node, the names of the exports are written so that an ES module can import them. Not minified: Node prints the line that
// threw an uncaught error.
const common = { bundle: true, platform: 'node', target: 'es2022', format: 'cjs' } as const
buildSync({ entryPoints: ['client.ts'], ...common, outfile: 'dist/client.cjs' })

// One copy of the classes, so that instanceof holds for a program that imports and requires them.
const names = Object.keys(createRequire(import.meta.url)('./dist/client.cjs'))
writeFileSync('dist/client.mjs', `export { ${names.join(', ')} } from "./client.cjs"\n`)

// Without the types of Node, which not every consumer has.
const options =
  '--declaration --emitDeclarationOnly --outDir dist --strict --noUncheckedIndexedAccess --target es2022 --module nodenext --typeRoots dist'
execFileSync(
  process.execPath,
  ['node_modules/typescript/bin/tsc', 'client.ts', '--allowImportingTsExtensions', ...options.split(' ')],
  { stdio: 'inherit' },
)

// CommonJS declarations serve both formats: ESM can import CommonJS.
for (const file of readdirSync('dist').filter((name) => name.endsWith('.d.ts'))) {
  const text = readFileSync(join('dist', file), 'utf8')
  rmSync(join('dist', file))
  writeFileSync(
    join('dist', file.replace('.d.ts', '.d.cts')),
    text.replaceAll(/(?<=['"]\.\/\w+)\.ts(?=['"])/g, '.cjs'),
  )
}
writeFileSync('dist/client.d.mts', 'export * from "./client.cjs"\n')
