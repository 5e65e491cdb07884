import { copyFileSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Code } from 'aws-cdk-lib/aws-lambda'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import { functionFile } from '../../shared/runtime/workers.ts'
import { type Files, inputsOf, type KeptFiles, PROJECT, readFiles, writeFiles } from '../kept/kept-files.ts'
import { REFERENCE } from '../settings/names.ts'
import { referenceInputs, writeReferenceFiles } from './reference-files.ts'

/** Returns the code of a function by its id, which is the name of its file in functions/. */
export type FunctionCode = (id: string) => Code

/**
 * The module that Lambda loads, in front of the bundle: the start of a function waits for an ES module. Its name is the one of the bundle
 * in versions without it, because CloudFormation replaces the code of a function and its handler one after the other.
 */
const START = 'infra/functions/index.mjs'

type Exceptions = Pick<BuildOptions, 'alias' | 'external'>

/** Modules of the SDK that no function runs. */
const LEFT_OUT: Exceptions = {
  alias: { '@aws-sdk/credential-provider-node': './shared/runtime/credentials.ts' },
  // It is imported by calls that have event streams.
  external: ['@smithy/core/event-streams'],
}

/** Bundles functions in one pass, each with the module that Lambda loads. */
export async function bundleFunctions(ids: readonly string[], outdir: string): Promise<Metafile> {
  const metafile = await bundle(
    Object.fromEntries(ids.map((id) => [join(id, 'bundle'), functionFile(id)])),
    outdir,
    LEFT_OUT,
  )
  for (const id of ids) copyFileSync(join(PROJECT, START), join(outdir, id, basename(START)))
  return metafile
}

/**
 * Bundles source files of the project by their output's name: CommonJS, minified, SDK included, which loads fastest on
 * Lambda. There are no source maps, since those would make the asset hash depend on the output path.
 */
export async function bundle(
  entryPoints: Record<string, string>,
  outdir: string,
  exceptions: Exceptions = {},
): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: PROJECT,
    entryPoints,
    outdir,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    minify: true,
    mainFields: ['module', 'main'],
    // `require` instead: an import of one of Node's modules builds a namespace of all its exports, which loads unused ones.
    supported: { 'dynamic-import': false },
    // The name that CommonJS has for it.
    define: { 'import.meta.dirname': '__dirname' },
    metafile: true,
    logLevel: 'error',
    ...exceptions,
  })
  return metafile
}

/** The code of functions, in a folder that it empties. Bundles that `kept` does not have are made, and kept there. */
export async function functionCode(
  ids: readonly string[],
  outdir: string,
  kept?: KeptFiles,
): Promise<FunctionCode> {
  rmSync(outdir, { recursive: true, force: true })
  const missing = ids.filter((id) => !restore(join(outdir, id), kept?.find(id, functionFile(id))))
  if (missing.length > 0) {
    const metafile = await bundleFunctions(missing, outdir)
    const made = missing.map((id) => ({
      name: id,
      settings: functionFile(id),
      // The first has the options.
      inputs: ['infra/functions/bundles.ts', START, ...inputsOf(metafile, functionFile(id))],
      files: readFiles(join(outdir, id)),
    }))
    kept?.keep(made)
  }
  if (ids.includes(REFERENCE)) addReferenceFiles(join(outdir, REFERENCE, 'files'), kept)
  return (id) => Code.fromAsset(join(outdir, id))
}

function addReferenceFiles(folder: string, kept?: KeptFiles): void {
  const [name, settings] = ['reference-files', process.versions]
  if (restore(folder, kept?.find(name, settings))) return
  writeReferenceFiles(folder)
  kept?.keep([{ name, settings, inputs: referenceInputs(), files: readFiles(folder) }])
}

/** Writes the files if there are any, and returns whether there were. */
function restore(folder: string, files: Files | undefined): boolean {
  if (files) writeFiles(folder, files)
  return files !== undefined
}
