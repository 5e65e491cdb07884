/** Histories: operations drawn from a seed, run several at a time, and checked by what the model knows. */

import { type RandomSource, seededRandom } from '../support/random.ts'
import type { FaultRates } from '../support/realistic-dynamodb/faults.ts'
import type { ClinicModel } from './model.ts'
import * as calendar from './operations/calendar.ts'
import * as changes from './operations/changes.ts'
import * as clinic from './operations/clinic.ts'
import * as feedback from './operations/feedback.ts'
import * as holds from './operations/holds.ts'
import * as messages from './operations/messages.ts'
import * as patients from './operations/patients.ts'
import * as payments from './operations/payments.ts'
import * as schedule from './operations/schedule.ts'
import * as webhooks from './operations/webhooks.ts'
import type { Operation, Run, TransactionFault } from './run.ts'
import type { World } from './world.ts'

/** Every kind of operation, with how often it is drawn. */
const OPERATIONS: Readonly<Record<string, readonly [weight: number, run: (run: Run) => Promise<void>]>> = {
  createPatient: [10, patients.createPatient],
  listPatients: [2, patients.listPatients],
  searchPatient: [3, patients.searchPatient],
  readPatient: [2, patients.readPatient],
  renamePatient: [5, patients.renamePatient],
  erasePatient: [2, patients.erasePatient],
  bookAppointment: [8, calendar.bookAppointment],
  bookRivals: [6, calendar.bookRivals],
  readAvailability: [2, calendar.readAvailability],
  listAppointments: [2, calendar.listAppointments],
  moveAppointment: [6, changes.moveAppointment],
  actOnAppointment: [6, changes.actOnAppointment],
  holdTime: [7, holds.holdTime],
  bookHold: [7, holds.bookHold],
  deleteHold: [2, holds.deleteHold],
  readHold: [2, holds.readHold],
  createInvoice: [4, payments.createInvoice],
  addBlock: [5, schedule.addBlock],
  removeBlock: [3, schedule.removeBlock],
  changeHolidays: [2, schedule.changeHolidays],
  addPayment: [4, payments.addPayment],
  voidPayment: [2, payments.voidOnePayment],
  readInvoice: [2, payments.readInvoice],
  sendMessage: [10, messages.sendMessage],
  listMessages: [1, messages.listMessages],
  reportFeedback: [4, feedback.reportFeedback],
  createWebhook: [4, webhooks.createWebhook],
  updateWebhook: [2, webhooks.updateWebhook],
  rotateSecret: [2, webhooks.rotateSecret],
  pingWebhook: [2, webhooks.pingWebhook],
  redeliver: [3, webhooks.redeliver],
  deleteWebhook: [2, webhooks.deleteWebhook],
  listWebhooks: [1, webhooks.listWebhooks],
  listDeliveries: [1, webhooks.listDeliveries],
  changeSettings: [2, clinic.changeSettings],
  renameDoctor: [1, clinic.renameDoctor],
  listDoctors: [1, clinic.listDoctors],
  listEvents: [1, clinic.listEvents],
  runWorkers: [4, clinic.runWorkers],
  restartFunctions: [1, clinic.restartFunctions],
}

const LOTS = Object.entries(OPERATIONS).flatMap(([kind, [weight]]) =>
  Array.from({ length: weight }, () => kind),
)

const ONE_IN = (random: RandomSource, share: number): boolean => random() < share

export type Plan = {
  readonly seed: number
  readonly operations: readonly Operation[]
  /** Operations in flight at the same time. */
  readonly concurrency: number
  readonly faults: FaultRates
}

/** The plan of a seed. Each history begins with a few patients, so that other operations have something to work on. */
export function planOf(seed: number): Plan {
  const random = seededRandom(seed, 'plan')
  const length = 12 + Math.floor(random() * 24)
  const crashes = ONE_IN(random, 0.6) ? 0.15 : 0
  const operations = Array.from({ length }, (_, index): Operation => {
    const isKeyed = ONE_IN(random, 0.4)
    const kind = LOTS[Math.floor(random() * LOTS.length)] ?? ''
    const crash = {
      call: 1 + Math.floor(random() * 14),
      point: ONE_IN(random, 0.5) ? 'before' : 'after',
    } as const
    return {
      number: index + 1,
      kind: index < 4 ? 'createPatient' : kind,
      clinic: index < 4 ? ((index % 2) as 0 | 1) : ONE_IN(random, 0.6) ? 0 : 1,
      random: Array.from({ length: 6 }, random),
      keyed: isKeyed,
      doubled: isKeyed && ONE_IN(random, 0.4),
      ...(ONE_IN(random, crashes) && { crash }),
      ...(ONE_IN(random, 0.3) && { faults: drawFaults(random) }),
    }
  })
  return { seed, operations, concurrency: 1 + Math.floor(random() * 6), faults: drawRates(random) }
}

/** One or two kinds in a row, up to one more than the attempts of the SDK. */
function drawFaults(random: RandomSource): TransactionFault[] {
  const draw = () => KINDS[Math.floor(random() * TRANSACTION_KINDS)] as TransactionFault['kind']
  const times = () => 1 + Math.floor(random() * 4)
  const first = { kind: draw(), times: times() }
  return ONE_IN(random, 0.5)
    ? [first]
    : [
        { ...first, times: 1 },
        { kind: draw(), times: times() },
      ]
}

/** How many of the kinds are for transactions: the first. */
const TRANSACTION_KINDS = 7

const KINDS = [
  'request-lost',
  'response-lost',
  'error-before-commit',
  'error-after-commit',
  'throttled',
  'items-throttled',
  'transaction-in-progress',
  'partial-result',
  'delayed',
] as const

/** A quarter of the histories has no faults but conflicts; the others prefer some kinds. Together at most 8 %. */
function drawRates(random: RandomSource): FaultRates {
  const total = ONE_IN(random, 0.25) ? 0 : 0.08 * random()
  const shares = KINDS.map(() => random() ** 2)
  const sum = shares.reduce((a, b) => a + b, 0)
  return Object.fromEntries(KINDS.map((kind, index) => [kind, (total * (shares[index] ?? 0)) / sum]))
}

/** Runs the operations. @throws Violation, or whatever an operation throws that it must not */
export async function runOperations(
  { operations, concurrency }: Plan,
  world: World,
  clinics: readonly [ClinicModel, ClinicModel],
  counts: Record<string, number>,
): Promise<void> {
  const waiting = [...operations]
  const worker = async () => {
    for (let operation = waiting.shift(); operation; operation = waiting.shift()) {
      const mine = clinics[operation.clinic]
      const run: Run = {
        world,
        clinic: mine,
        other: clinics[1 - operation.clinic] as ClinicModel,
        operation,
        counts,
      }
      counts[operation.kind] = (counts[operation.kind] ?? 0) + 1
      world.planFaults(operation.faults ?? [])
      await OPERATIONS[operation.kind]?.[1](run)
    }
  }
  const outcomes = await Promise.allSettled(Array.from({ length: concurrency }, worker))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}
