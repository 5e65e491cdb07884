/** The response to the first request with an idempotency key. It is sent again byte for byte. */
export class StoredResponse {
  readonly status: number
  /** JSON as it was sent. */
  readonly body: string
  /** The id of the created record, if the body does not have it. */
  readonly createdId: string | undefined

  constructor(status: number, body: string, createdId?: string) {
    this.status = status
    this.body = body
    this.createdId = createdId
  }
}
