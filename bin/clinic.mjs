#!/usr/bin/env node
// The operator tool as a bundle, which starts in a third of the time. The bundle is built again if any of its inputs differs.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const project = join(import.meta.dirname, '..')
const folder = join(project, 'node_modules/.cache/clinic')
const list = join(folder, 'inputs.json')

const bundleOf = (key) => join(folder, key, 'clinic.js')

/** The content of these files decides about the bundle. package-lock.json stands for the modules that are installed. */
function keyOf(inputs) {
  const hash = createHash('sha256').update(process.version).update(project)
  for (const file of inputs) hash.update(file).update(readFileSync(join(project, file)))
  return hash.digest('hex').slice(0, 32)
}

function currentBundle() {
  try {
    const bundle = bundleOf(keyOf(JSON.parse(readFileSync(list, 'utf8'))))
    return existsSync(bundle) ? bundle : undefined
  } catch {
    // It was never built, an input was removed, or the list is damaged.
    return undefined
  }
}

async function build() {
  const { build } = await import('esbuild')
  const { metafile, outputFiles } = await build({
    absWorkingDir: project,
    entryPoints: { clinic: 'bin/clinic.ts' },
    outdir: folder,
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minify: true,
    mainFields: ['module', 'main'],
    // The modules that use it read files of their folder, which are not in the bundle.
    define: { 'import.meta.dirname': JSON.stringify(join(project, 'bin/clinic/import/maps')) },
    // CommonJS modules among the inputs load the modules of Node with it.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    metafile: true,
    logLevel: 'error',
  })
  const own = Object.keys(metafile.inputs).filter(
    (file) => !/(^|\/)node_modules\//.test(file) && !file.startsWith('<'),
  )
  const inputs = [...own, 'package-lock.json', 'bin/clinic.mjs'].sort()
  const key = keyOf(inputs)
  mkdirSync(join(folder, key), { recursive: true })
  // The entry comes last: it exists only if all of the bundle does.
  const isEntry = ({ path }) => path.endsWith('/clinic.js')
  for (const output of outputFiles.toSorted((a, b) => Number(isEntry(a)) - Number(isEntry(b))))
    write(join(folder, key, output.path.slice(folder.length + 1)), output.contents)
  write(list, JSON.stringify(inputs))
  return bundleOf(key)
}

/** Other processes see the whole file or none. */
function write(file, content) {
  const unfinished = `${file}.${process.pid}`
  writeFileSync(unfinished, content)
  renameSync(unfinished, file)
}

// Node's own exit code for an error, 1, means that a command is done.
process.once('uncaughtException', (error) => {
  process.stderr.write(`${error.stack}\n`)
  process.exit(4)
})
enableCompileCache(join(folder, 'compiled'))
await import(pathToFileURL(currentBundle() ?? (await build())))
