/** A response that was sent before, to be sent again byte for byte (Idempotency-Key). */
export class ReplayedResponse {
  readonly status: number
  /** JSON as it was sent. */
  readonly body: string
  /** The id of the created record, if the body does not have it. */
  readonly createdId: string | undefined

  constructor({ status, body, createdId }: Pick<ReplayedResponse, 'status' | 'body' | 'createdId'>) {
    this.status = status
    this.body = body
    this.createdId = createdId
  }
}
