import { CONFLICT_MESSAGE, cancellation, type EngineCall, errorReply, type Reply } from './call.ts'
import { type Hold, itemsInFlight } from './items-in-flight.ts'

type Work = () => Promise<Reply>

type Options = {
  readonly onConflict: (key: string) => void
  /** Waits as long as DynamoDB takes to reject a call. */
  readonly reject: () => Promise<void>
}

/** Runs calls with their items in flight, or rejects them with the error that DynamoDB has for a conflict. */
export function conflictGuard({ onConflict, reject }: Options) {
  const items = itemsInFlight(onConflict)
  return {
    transaction: async (call: EngineCall, work: Work): Promise<Reply> => {
      const attempt = items.beginTransaction(call.items)
      if ('hold' in attempt) return holding(attempt.hold, work)
      await reject()
      return conflictCancellation(call, attempt.conflicts)
    },
    transactionalRead: async (call: EngineCall, work: Work): Promise<Reply> => {
      const read = items.beginTransactionalRead(call.items)
      const reply = await holding(read, async () => (read.conflicts.size > 0 ? reject() : work()))
      return reply && read.conflicts.size === 0 ? reply : conflictCancellation(call, read.conflicts)
    },
    singleWrite: async (call: EngineCall, work: Work): Promise<Reply> => {
      const { hold, conflicts } = items.beginWrites(call.items)
      if (conflicts.size === 0) return holding(hold, work)
      hold.release()
      await reject()
      return errorReply('TransactionConflictException', CONFLICT_MESSAGE)
    },
    /** `work` gets the positions of the items that conflict: the error for them is to be left unprocessed. */
    batchWrite: (
      call: EngineCall,
      work: (conflicts: ReadonlySet<number>) => Promise<Reply>,
    ): Promise<Reply> => {
      const { hold, conflicts } = items.beginWrites(call.items)
      return holding(hold, () => work(conflicts))
    },
  }
}

async function holding<T>({ release }: Hold, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    release()
  }
}

const conflictCancellation = ({ items }: EngineCall, conflicts: ReadonlySet<number>): Reply =>
  cancellation(items.length, (index) => conflicts.has(index), 'TransactionConflict')
