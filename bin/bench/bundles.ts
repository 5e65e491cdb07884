import type { Metafile } from 'esbuild'
import { bundleFunctions } from '../../infra/functions/bundles.ts'
import { functionFile } from '../../shared/runtime/workers.ts'
import { bundleBound } from './bounds.ts'

/** Parts of a bundle, by what the paths of their files have in common. The first that matches counts. */
const PARTS = {
  SDK: /node_modules\/@(aws|aws-sdk|smithy)\//,
  zod: /node_modules\/zod\//,
  'phone numbers': /node_modules\/libphonenumber-js\//,
  'other packages': /node_modules\//,
  'time zones': /shared\/domain\/time-zone/,
  'own code': /./,
} as const

type BundleSizes = { readonly section: string; readonly failures: readonly string[] }

/** Bundles functions into a folder, and returns their sizes. */
export const measureBundles = async (ids: readonly string[], outdir: string): Promise<BundleSizes> =>
  bundleSizes(ids, await bundleFunctions(ids, outdir))

/** A line for each function with its bytes by part, and the sizes that exceed their bounds. */
export function bundleSizes(ids: readonly string[], metafile: Metafile): BundleSizes {
  const outputs = Object.values(metafile.outputs)
  const failures: string[] = []
  const rows = ids.map((id) => {
    const output = outputs.find(({ entryPoint }) => entryPoint === functionFile(id))
    if (!output) throw new Error(`There is no bundle of ${id}.`)
    const bound = bundleBound(id)
    if (output.bytes > bound) failures.push(`bundle ${id}: ${output.bytes} bytes`)
    const parts = new Map<string, number>()
    for (const [path, { bytesInOutput }] of Object.entries(output.inputs)) {
      const [part = ''] = Object.entries(PARTS).find(([, pattern]) => pattern.test(path)) ?? []
      parts.set(part, (parts.get(part) ?? 0) + bytesInOutput)
    }
    const numbers = [output.bytes, bound, ...Object.keys(PARTS).map((part) => parts.get(part) ?? 0)]
    return `| ${[id, ...numbers.map((number) => number.toLocaleString('en'))].join(' | ')} |`
  })
  const heads = ['function', 'bytes, minified', 'bound', ...Object.keys(PARTS)]
  const lines = [`| ${heads.join(' | ')} |`, `|---|${'---:|'.repeat(heads.length - 1)}`, ...rows, '']
  return { section: lines.join('\n'), failures }
}
