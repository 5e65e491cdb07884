import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda'
import type { Outcome } from '../../../../infra/local/functions/pool.ts'

export type Act = (event: DynamoDBStreamEvent, attempt: number) => unknown

/** A function that behaves as `act` says, an error being a failed invocation, and the batches that it received. */
export function functionThat(act: Act) {
  const events: DynamoDBRecord[][] = []
  const invoke = async (text: string): Promise<Outcome> => {
    const event = JSON.parse(text) as DynamoDBStreamEvent
    events.push(event.Records)
    const result = await act(event, events.length)
    return result instanceof Error
      ? { ok: false, error: { errorType: 'Error', errorMessage: 'x', trace: [] }, diagnostics: ['Error: x'] }
      : { ok: true, payload: JSON.stringify(result ?? null), diagnostics: [] }
  }
  return {
    events,
    pool: { name: 'Function', invoke, kill: async () => {}, update: () => {}, close: async () => {} },
  }
}
