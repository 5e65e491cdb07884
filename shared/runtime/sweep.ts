import * as z from 'zod'
import type { Opened, Platform, Stores } from './platform.ts'
import { worker } from './worker.ts'
import type { Worker } from './workers.ts'

/** One invocation of a sweep. */
type Sweep = {
  /** The partitions of this part, of all that the sweep reads. */
  readonly partitionsOf: (all: readonly string[]) => string[]
  /** Records the metric `sweep_lag_ms`: how late the oldest item was that was due; 0 if nothing was. */
  readonly reportLag: (ms: number) => void
}

type SweepDefinition = Pick<Worker, 'id'> & { readonly trigger: { readonly type: 'schedule' } }

/** Sent by the schedule. Without it, for example when a person invokes the function, one invocation does all parts. */
const Input = z
  .object({ part: z.int().min(0).default(0), parts: z.int().min(1).default(1) })
  .refine(({ part, parts }) => part < parts)

/** Creates the Lambda handler of a worker that a schedule invokes, in parts that run at the same time. */
export const sweepWorker = <S extends Stores>(
  definition: SweepDefinition,
  stores: S,
  sweep: (stores: Opened<S>, platform: Platform & Sweep) => Promise<void>,
) =>
  worker<S, unknown, void>(definition, stores, async (event, opened, platform) => {
    const { part, parts } = Input.parse(event ?? {})
    const partitionsOf = (all: readonly string[]) => all.filter((_, index) => index % parts === part)
    const reportLag = (ms: number) => platform.recordMs('sweep_lag_ms', ms, { sweep: definition.id })
    await sweep(opened, { ...platform, partitionsOf, reportLag })
  })
