import type { Metafile } from 'esbuild'
import { bundleFunctions } from '../../infra/functions/bundles.ts'
import { functionIds } from '../../infra/stacks/deployment.ts'
import { functionFile } from '../../shared/runtime/workers.ts'
import { type Bench, type Measured, sectionOf } from './report.ts'

/** Bytes of minified bundles, by the ids of functions. The first pattern that matches counts. Endpoints that only read begin with `get-` or `list-`. */
const BUNDLE_BYTES: readonly [pattern: RegExp, bytes: number][] = [
  [/^(get|list)-/, 480_000],
  [/^reference$/, 18_000],
  [/^(create|update)-patient$/, 733_748],
  [/-patient$/, 507_895],
  [/^send-message$/, 763_648],
  // The rules of every kind of record.
  [/^sync-records$/, 808_541],
  [/^(email-feedback|refresh-copies|fan-out-events|deliver-event|sweep-.*)$/, 508_524],
  // Verification, migration and reconciliation of everything.
  [/^run-maintenance$/, 911_360],
]

/** Bytes of a function's minified bundle. */
const bundleBound = (id: string): number => BUNDLE_BYTES.find(([pattern]) => pattern.test(id))?.[1] ?? 551_360

export const measureBundles = async ({ folder }: Bench): Promise<Measured> =>
  bundleSizes(functionIds(), await bundleFunctions(functionIds(), folder))

/** A line for each bound with the largest of its functions, and the sizes that exceed their bounds. */
export function bundleSizes(ids: readonly string[], metafile: Metafile): Measured {
  const outputs = Object.values(metafile.outputs)
  const sizes = ids.map((id) => {
    const output = outputs.find(({ entryPoint }) => entryPoint === functionFile(id))
    if (!output) throw new Error(`There is no bundle of ${id}.`)
    return { id, bytes: output.bytes, bound: bundleBound(id) }
  })
  const ofBounds = Map.groupBy(
    sizes.toSorted((a, b) => b.bytes - a.bytes),
    ({ bound }) => bound,
  )
  const rows = [...ofBounds].map(([bound, [largest, ...others]]) => [
    `${largest?.id}${others.length > 0 ? `, the largest of ${others.length + 1}` : ''}`,
    ...[largest?.bytes ?? 0, bound],
  ])
  return {
    section: sectionOf('Sizes of deployed functions.', ['function', 'bytes, minified', 'bound'], rows),
    failures: sizes.flatMap(({ id, bytes, bound }) =>
      bytes > bound ? [`bundle ${id}: ${bytes} bytes`] : [],
    ),
  }
}
