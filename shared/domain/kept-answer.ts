/** An answer that was given before, to be given again byte for byte (Idempotency-Key). */
export class KeptAnswer {
  readonly status: number
  /** JSON as it was sent. */
  readonly body: string

  constructor(status: number, body: string) {
    this.status = status
    this.body = body
  }
}
