import { Duration } from 'aws-cdk-lib'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import { FilterCriteria, FilterRule, type Function as Lambda, StartingPosition } from 'aws-cdk-lib/aws-lambda'
import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { type QueueName, type Trigger, WORKERS, type Worker } from '../../shared/runtime/workers.ts'
import type { Data } from '../data/data.ts'
import { FUNCTION_TIMEOUT, type StageSettings } from '../settings/stages.ts'
import type { FunctionCode } from './bundles.ts'
import { workerReservation } from './concurrency.ts'
import {
  consumeGrant,
  keyGrant,
  pushGrant,
  streamGrants,
  streamOf,
  tableGrants,
  wholeTableGrants,
} from './grants.ts'
import { accessTo, type Services } from './service-access.ts'
import { ServiceFunction } from './service-function.ts'

/** The properties of each part of the workers. */
export type WorkerProps = {
  readonly stage: StageSettings
  readonly code: FunctionCode
  readonly logs: ILogGroup
  readonly data: Data
}

type Dependencies = WorkerProps & {
  /** The services that the part's workers may use besides the table. */
  readonly services: Services
}

const timeoutOf = ({ timeoutSeconds }: Worker): Duration =>
  timeoutSeconds === undefined ? FUNCTION_TIMEOUT : Duration.seconds(timeoutSeconds)

/** The longest time that a consumer of the queue may take for a batch. */
export function consumerTimeout(name: QueueName): Duration {
  const seconds = WORKERS.filter(({ trigger }) => trigger.type === 'queue' && name in trigger.maxConcurrency)
    .map(timeoutOf)
    .map((timeout) => timeout.toSeconds())
  return Duration.seconds(Math.max(...seconds))
}

/**
 * The functions of one part's workers. Each is created when the first of its event sources is connected; timeout,
 * environment and grants follow from the worker table.
 */
export class WorkerFunctions {
  readonly #scope: Construct
  readonly #workers: readonly Worker[]
  readonly #dependencies: Dependencies
  readonly #created = new Map<string, Lambda>()

  constructor(scope: Construct, part: Worker['part'], dependencies: Dependencies) {
    this.#scope = scope
    this.#workers = WORKERS.filter((worker) => worker.part === part)
    this.#dependencies = dependencies
  }

  /** Feeds a queue to its consumers, which report the failed messages of a batch. */
  consume(name: QueueName, queue: Queue): void {
    for (const [worker, { maxConcurrency, batchSize }] of this.#triggeredBy('queue')) {
      if (maxConcurrency[name] === undefined) continue
      const consumer = this.#function(worker)
      // An SqsEventSource would grant more than Lambda needs.
      consumer.addToRolePolicy(consumeGrant(queue))
      consumer.addEventSourceMapping(name, {
        eventSourceArn: queue.queueArn,
        batchSize: batchSize?.[name] ?? 10,
        reportBatchItemFailures: true,
        maxConcurrency: maxConcurrency[name],
      })
    }
  }

  /** Feeds inserts into the table to the workers that follow its stream. Batches that fail are reported to a queue. */
  followStream(table: ITable, failures: Queue): void {
    for (const [worker, { partitionPrefix }] of this.#triggeredBy('stream')) {
      const follower = this.#function(worker)
      // A DynamoEventSource would grant more than Lambda needs.
      for (const grant of [...streamGrants(table), pushGrant(failures)]) follower.addToRolePolicy(grant)
      follower.addEventSourceMapping('stream', {
        eventSourceArn: streamOf(table),
        startingPosition: StartingPosition.TRIM_HORIZON,
        batchSize: 100,
        // More would collide: the events of one clinic are numbered by one item, one transaction after the other.
        parallelizationFactor: 4,
        // A failure does not stop the other clinics of a batch, so there is no reason to split it. A sweep processes what
        // fails more often, so that it does not block later records.
        retryAttempts: 3,
        onFailure: { bind: () => ({ destination: failures.queueArn }) },
        filters: [
          FilterCriteria.filter({
            eventName: FilterRule.isEqual('INSERT'),
            dynamodb: { Keys: { pk: { S: FilterRule.beginsWith(partitionPrefix) } } },
          }),
        ],
      })
    }
  }

  /**
   * Invokes sweeps every minute, one invocation for each of their parts, without retries: the next minute's run continues
   * where one failed. Each sweep has a separate rule, because a rule has at most five targets.
   */
  everyMinute(): void {
    for (const [worker, { parts = 1 }] of this.#triggeredBy('schedule')) {
      const sweep = this.#function(worker)
      // An older invocation is dropped: the next one does its work.
      sweep.configureAsyncInvoke({ retryAttempts: 0, maxEventAge: Duration.minutes(1) })
      new Rule(this.#scope, `${worker.id}-every-minute`, {
        schedule: Schedule.rate(Duration.minutes(1)),
        targets: Array.from({ length: parts }, (_, part) => {
          const event = RuleTargetInput.fromObject({ part, parts })
          return new LambdaFunction(sweep, { event, retryAttempts: 0, maxEventAge: Duration.minutes(1) })
        }),
      })
    }
  }

  /**
   * The function for receipts of SMS, which is subscribed to them if the stage has them.
   * @throws Error unless the table has exactly one
   */
  subscriber(to: 'sms-receipts'): Lambda {
    const [found, ...more] = this.#triggeredBy('subscription').filter(([, trigger]) => trigger.to === to)
    if (!found || more.length > 0) throw new Error(`Not exactly one worker is subscribed to "${to}".`)
    return this.#function(found[0])
  }

  #triggeredBy<Type extends Trigger['type']>(type: Type): [Worker, Extract<Trigger, { type: Type }>][] {
    return this.#workers.flatMap((worker) =>
      worker.trigger.type === type
        ? [[worker, worker.trigger as Extract<Trigger, { type: Type }>] as [Worker, never]]
        : [],
    )
  }

  #function(worker: Worker): Lambda {
    const created = this.#created.get(worker.id) ?? this.#create(worker)
    this.#created.set(worker.id, created)
    return created
  }

  #create(worker: Worker): Lambda {
    const { stage, code, logs, data, services } = this.#dependencies
    const used = worker.uses?.services ?? []
    const { environment, grants } = accessTo(used, services)
    const { lambda } = new ServiceFunction(this.#scope, worker.id, {
      stage,
      code,
      logs,
      timeout: timeoutOf(worker),
      ...(worker.memoryMb !== undefined && { memory: worker.memoryMb }),
      reservedConcurrency: workerReservation(worker, stage.accountConcurrency),
      requeues: worker.trigger.type === 'queue' && used.some((service) => service.endsWith('-queue')),
      environment: { TABLE_NAME: data.table.tableName, STAGE: stage.name, ...environment },
      grants: [
        ...tableGrants(data, worker),
        ...wholeTableGrants(data, worker.uses?.wholeTables),
        keyGrant(this.#scope, data),
        ...grants,
      ],
    })
    return lambda
  }
}
