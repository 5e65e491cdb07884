/** Builds what npm publishes into dist/: ESM, CommonJS and declarations. `npm pack` runs it. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildSync } from 'esbuild'

process.chdir(import.meta.dirname)
rmSync('dist', { recursive: true, force: true })

// Node prints the whole line that threw an uncaught error.
const common = { bundle: true, minify: true, lineLimit: 1000, target: 'es2022' }
for (const [format, outfile] of [
  ['esm', 'dist/client.mjs'],
  ['cjs', 'dist/client.cjs'],
] as const)
  buildSync({ entryPoints: ['client.ts'], ...common, format, outfile })

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
