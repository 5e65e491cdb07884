/** A response that was sent before, to be sent again byte for byte (Idempotency-Key). */
export class ReplayedResponse {
  readonly status: number
  /** JSON as it was sent. */
  readonly body: string

  constructor({ status, body }: { readonly status: number; readonly body: string }) {
    this.status = status
    this.body = body
  }
}
