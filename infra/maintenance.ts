import { Construct } from 'constructs'
import { WorkerFunctions, type WorkerProps } from './worker-functions.ts'

/** Keeps the table compact: what spreads over several items while writers collide is folded back when it is quiet. */
export class Maintenance extends Construct {
  constructor(scope: Construct, id: string, props: WorkerProps) {
    super(scope, id)
    new WorkerFunctions(this, 'maintenance', { ...props, services: {} }).everyMinute()
  }
}
