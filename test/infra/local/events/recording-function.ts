import type { Outcome } from '../../../../infra/local/functions/pool.ts'

/** A function that behaves as `act` says, an error being a failed invocation, and the events that it received. */
export function functionThat<Event>(
  act: (event: Event, attempt: number) => unknown,
  diagnostics: string[] = [],
) {
  const events: Event[] = []
  const invoke = async (text: string): Promise<Outcome> => {
    const event = JSON.parse(text) as Event
    events.push(event)
    const result = await act(event, events.length)
    return result instanceof Error
      ? { ok: false, error: { errorType: 'Error', errorMessage: 'x', trace: [] }, diagnostics: ['Error: x'] }
      : { ok: true, payload: JSON.stringify(result ?? null), diagnostics }
  }
  return {
    events,
    pool: { name: 'Function', invoke, kill: async () => {}, update: () => {}, close: async () => {} },
  }
}
