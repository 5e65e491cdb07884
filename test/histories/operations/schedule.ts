/** Operations on the times of doctors: blocks within the days of bookings, and holidays on other days. */
import { type BlockModel, type BookingModel, type ClinicModel, identified, type Placement } from '../model.ts'
import { demand, tick } from '../register.ts'
import { pick, type Run, submit } from '../run.ts'
import { drawPlacement, timeOf } from './calendar.ts'

const overlaps = (block: BlockModel, { doctor, date, from, to }: Placement): boolean =>
  block.doctor === doctor && block.date === date && block.from < to && from < block.to

/** The blocks that have certainly been there until now, and overlap a placement. */
export const blocksOf = ({ blocks }: ClinicModel, placement: Placement): BlockModel[] =>
  identified(blocks).filter(
    (block) => block.removedFrom === Number.POSITIVE_INFINITY && overlaps(block, placement),
  )

/** Demands that none of these blocks stayed until now: an appointment got its time. */
export function demandOpen({ token }: Pick<BookingModel, 'token'>, blocks: readonly BlockModel[]): void {
  const block = blocks.find(({ removedFrom }) => removedFrom === Number.POSITIVE_INFINITY)
  demand(!block, () => `${token} was booked in the block ${JSON.stringify(block)}`)
}

/** Demands that a block may have been there since `start`: an appointment was rejected as outside working hours. */
export function demandBlock({ blocks }: ClinicModel, placement: Placement, start: number): void {
  const block = blocks.find((one) => one.removedBy > start && overlaps(one, placement))
  demand(block !== undefined, () => `${JSON.stringify(placement)} was rejected as outside working hours`)
}

export async function addBlock(run: Run): Promise<void> {
  const { clinic, operation } = run
  const placement = drawPlacement(clinic, operation.random)
  if (!placement || clinic.blocks.some((one) => overlaps(one, placement))) return
  const { doctor, date, from, to } = placement
  const block: BlockModel = {
    ...{ id: null, doctor, date, from, to },
    existence: 'possible',
    removedFrom: Number.POSITIVE_INFINITY,
    removedBy: Number.POSITIVE_INFINITY,
  }
  clinic.blocks.push(block)
  const times = { from: date, start_time: timeOf(from), end_time: timeOf(to) }
  const outcome = await submit(run, 'create-time-off', { path: { id: doctor }, body: times })
  if (outcome.kind === 'unknown') return
  demand(outcome.kind === 'done', () => `a block returned ${JSON.stringify(outcome)}`)
  block.id = outcome.body.data.id
  block.existence = 'certain'
}

const WITHOUT_KEY = { keyed: false, doubled: false } as const

export async function removeBlock(run: Run): Promise<void> {
  const block = pick(identified(run.clinic.blocks), run.operation.random[0])
  if (!block) return
  const isFirst = block.removedFrom === Number.POSITIVE_INFINITY
  block.removedFrom = Math.min(block.removedFrom, tick())
  const path = { id: block.doctor, time_off_id: block.id }
  const once = { ...run, operation: { ...run.operation, ...WITHOUT_KEY } }
  const outcome = await submit(once, 'delete-time-off', { path })
  if (outcome.kind === 'unknown') return
  if (outcome.kind === 'rejected')
    demand(!isFirst && outcome.status === 404, () => `a removal returned ${outcome.status}`)
  block.removedBy = Math.min(block.removedBy, tick())
}

/** Days without bookings: the doctors' copies of them are checked at the end. */
export async function changeHolidays(run: Run): Promise<void> {
  const { clinic, operation } = run
  const id = pick(clinic.holidays, operation.random[0])
  if (id && (operation.random[1] ?? 0) < 0.4) {
    const once = { ...run, operation: { ...operation, ...WITHOUT_KEY } }
    const outcome = await submit(once, 'delete-holiday', { path: { id } })
    demand(outcome.kind !== 'rejected' || outcome.status === 404, () => `a holiday returned ${outcome.kind}`)
    return
  }
  const body = { from: `2199-0${1 + (operation.number % 9)}-21` }
  const outcome = await submit(run, 'create-holiday', { body })
  demand(outcome.kind !== 'rejected', () => `a holiday returned ${JSON.stringify(outcome)}`)
  if (outcome.kind === 'done') clinic.holidays.push(outcome.body.data.id)
}
