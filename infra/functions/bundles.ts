import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Code } from 'aws-cdk-lib/aws-lambda'
import { buildSync, type Metafile } from 'esbuild'
import { functionFile } from '../../shared/runtime/workers.ts'
import { REFERENCE } from '../settings/names.ts'
import { writeReferenceFiles } from './reference-files.ts'

/** Returns the code of a function by its id, which is the name of its file in functions/. */
export type FunctionCode = (id: string) => Code

const PROJECT = join(import.meta.dirname, '../..')

/** The code in a folder of bundles. */
export const codeIn =
  (folder: string): FunctionCode =>
  (id) =>
    Code.fromAsset(join(folder, id))

/**
 * Bundles every function in one pass: CommonJS, minified, SDK included, which loads fastest on Lambda. There
 * are no source maps, since those would make the asset hash depend on the output path.
 */
export function bundleFunctions(
  ids: readonly string[],
  outdir: string,
): { code: FunctionCode; metafile: Metafile } {
  rmSync(outdir, { recursive: true, force: true })
  const { metafile } = buildSync({
    absWorkingDir: PROJECT,
    entryPoints: Object.fromEntries(ids.map((id) => [join(id, 'index'), functionFile(id)])),
    outdir,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    minify: true,
    mainFields: ['module', 'main'],
    alias: { '@aws-sdk/credential-provider-node': './shared/runtime/environment-credentials.ts' },
    // `require` instead: an import of one of Node's modules builds a namespace of all its exports, which loads unused ones.
    supported: { 'dynamic-import': false },
    // The name that CommonJS has for it.
    define: { 'import.meta.dirname': '__dirname' },
    metafile: true,
    logLevel: 'error',
  })
  if (ids.includes(REFERENCE)) writeReferenceFiles(join(outdir, REFERENCE, 'files'))
  return { code: codeIn(outdir), metafile }
}

/**
 * The bundles of all functions, copied from the folder `kept` if it exists; otherwise they are made, and kept there. For many
 * syntheses of the same code, such as the syntheses of a test run: nothing checks that the code has not changed since.
 */
export function keptBundles(ids: readonly string[], outdir: string, kept: string): FunctionCode {
  if (existsSync(kept)) {
    cpSync(kept, outdir, { recursive: true })
    return codeIn(outdir)
  }
  const { code } = bundleFunctions(ids, outdir)
  const unfinished = mkdtempSync(`${kept}-`)
  cpSync(outdir, unfinished, { recursive: true })
  try {
    renameSync(unfinished, kept)
  } catch (error) {
    // Another synthesis has kept the same bundles in the meantime.
    if (!existsSync(kept)) throw error
  }
  return code
}
