import type { Metafile } from 'esbuild'
import { bundleFunctions } from '../../infra/functions/bundles.ts'
import { functionFile } from '../../shared/runtime/workers.ts'
import { bundleBound } from './bounds.ts'

type BundleSizes = { readonly section: string; readonly failures: readonly string[] }

/** Bundles functions into a folder, and returns their sizes. */
export const measureBundles = async (ids: readonly string[], outdir: string): Promise<BundleSizes> =>
  bundleSizes(ids, await bundleFunctions(ids, outdir))

/** A line for each function with its bytes, and the sizes that exceed their bounds. */
export function bundleSizes(ids: readonly string[], metafile: Metafile): BundleSizes {
  const outputs = Object.values(metafile.outputs)
  const sizes = ids.map((id) => {
    const output = outputs.find(({ entryPoint }) => entryPoint === functionFile(id))
    if (!output) throw new Error(`There is no bundle of ${id}.`)
    return { id, bytes: output.bytes, bound: bundleBound(id) }
  })
  const rows = sizes.map(({ id, bytes, bound }) => {
    const numbers = [bytes, bound].map((number) => number.toLocaleString('en'))
    return `| ${[id, ...numbers].join(' | ')} |`
  })
  const lines = ['| function | bytes, minified | bound |', '|---|---:|---:|', ...rows, '']
  const failures = sizes.filter(({ bytes, bound }) => bytes > bound)
  return {
    section: lines.join('\n'),
    failures: failures.map(({ id, bytes }) => `bundle ${id}: ${bytes} bytes`),
  }
}
