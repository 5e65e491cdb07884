import { Construct } from 'constructs'
import type { FunctionCode } from './bundles.ts'
import type { Data } from './data.ts'
import type { StageSettings } from './stages.ts'
import { WorkerFunctions } from './worker-functions.ts'

type Props = { readonly stage: StageSettings; readonly code: FunctionCode; readonly data: Data }

/** Keeps the table compact: what spreads over several items while writers collide is folded back when it is quiet. */
export class Maintenance extends Construct {
  constructor(scope: Construct, id: string, { stage, code, data }: Props) {
    super(scope, id)
    new WorkerFunctions(this, 'maintenance', { stage, code, data, services: {} }).everyMinute()
  }
}
