/** Why the API refused (its error catalogue: `/errors.json`). */

export type ErrorBody = {
  readonly error: string
  readonly message: string
  readonly details?: readonly object[]
}

const PREFIX = 'errors.developer_api.'

export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** The code, e.g. `NOT_FOUND`. */
  readonly code: string
  /** Which error it is, e.g. `patient_not_found`: the translation key without its prefix. */
  readonly key: string
  /** Fields that are wrong, other times that are free, the missing scope. */
  readonly details: readonly object[]
  /** Quote it when you ask for help. */
  readonly requestId: string | null
  /** Seconds. */
  readonly retryAfter: number | null

  constructor(status: number, body: ErrorBody, requestId: string | null, retryAfter: number | null) {
    super(`${status} ${body.message || body.error}`)
    this.status = status
    this.code = body.error
    this.key = body.message.startsWith(PREFIX) ? body.message.slice(PREFIX.length) : body.message
    this.details = body.details ?? []
    this.requestId = requestId
    this.retryAfter = retryAfter
  }
}
