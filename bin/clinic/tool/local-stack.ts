/** The description of itself that a stack on this machine serves. */
import { CommandFailure, EXIT } from './output.ts'

export type LocalDescription = {
  readonly region: string
  readonly outputs: Readonly<Record<string, string>>
  readonly endpoints: { readonly dynamodb: string; readonly sqs: string; readonly logs: string }
  readonly clock_offset_ms?: number
  /** The demo's clinics with their credentials; none in a stack without them. */
  readonly clinics?: readonly {
    readonly id: string
    readonly name: string
    readonly credentials: { readonly full: string }
  }[]
}

/** @throws CommandFailure if no stack runs on the port */
export async function describeLocalStack(port: string): Promise<LocalDescription> {
  const local = await fetch(`http://127.0.0.1:${port}/_local`).then(
    (response) => (response.ok ? (response.json() as Promise<LocalDescription>) : null),
    () => null,
  )
  if (local) return local
  throw new CommandFailure(
    `No local stack is running on port ${port}. Start one with "npm start", or select a deployed one with --stack.`,
    EXIT.unreachable,
  )
}
