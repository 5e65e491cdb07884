import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Code } from 'aws-cdk-lib/aws-lambda'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import { functionFile } from '../../shared/runtime/workers.ts'
import { REFERENCE } from '../settings/names.ts'
import { PROJECT, writeReferenceFiles } from './reference-files.ts'

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
  const metafile = await bundle(entryPointsOf(ids), outdir, LEFT_OUT)
  copyStart(ids, outdir)
  return metafile
}

const entryPointsOf = (ids: readonly string[]): Record<string, string> =>
  Object.fromEntries(ids.map((id) => [join(id, 'bundle'), functionFile(id)]))

function copyStart(ids: readonly string[], outdir: string): void {
  for (const id of ids) copyFileSync(join(PROJECT, START), join(outdir, id, basename(START)))
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

/**
 * Bundles functions for this machine in one pass: ES modules in one folder, which share chunks, and source maps. What is common to functions
 * is bundled once, in a tenth of the time. A chunk has the hash of its content in its name, so the code of a function changes with each of
 * its chunks. A folder of code may be copied within `outdir`, since it refers to the chunks beside it.
 */
async function bundleLocally(ids: readonly string[], outdir: string): Promise<void> {
  await build({
    absWorkingDir: PROJECT,
    entryPoints: entryPointsOf(ids),
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    chunkNames: 'chunks/[hash]',
    minify: true,
    sourcemap: true,
    sourcesContent: false,
    // Packages that are CommonJS call it.
    banner: {
      js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)",
    },
    logLevel: 'error',
    ...LEFT_OUT,
  })
  writeFileSync(join(outdir, 'package.json'), '{ "type": "module" }')
  copyStart(ids, outdir)
}

/** The code of functions as it is deployed, in a folder that it empties. */
export async function functionCode(ids: readonly string[], outdir: string): Promise<FunctionCode> {
  rmSync(outdir, { recursive: true, force: true })
  return codeOf(ids, outdir, bundleFunctions)
}

/** The code of functions as the local runner runs it, in an empty folder in which the app puts assets. */
export const localFunctionCode = (ids: readonly string[], outdir: string): Promise<FunctionCode> =>
  codeOf(ids, outdir, bundleLocally)

async function codeOf(
  ids: readonly string[],
  outdir: string,
  bundleInto: (ids: readonly string[], outdir: string) => Promise<unknown>,
): Promise<FunctionCode> {
  // The bundler is a process of its own, so pages are rendered at the same time.
  const bundled = bundleInto(ids, outdir)
  if (ids.includes(REFERENCE)) writeReferenceFiles(join(outdir, REFERENCE, 'files'))
  await bundled
  return (id) => Code.fromAsset(join(outdir, id))
}
