/** Errors that the API returns. `/errors.json` is the catalogue. */

export type ErrorBody = {
  readonly error: string
  readonly message: string
  readonly details?: readonly object[]
  readonly details_omitted?: number
}

const PREFIX = 'errors.developer_api.'

/** An error response of the API. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** The error code, e.g. `NOT_FOUND`. `UNKNOWN` if the response did not come from the API. */
  readonly code: string
  /** The translation key without its prefix, e.g. `patient_not_found`. */
  readonly key: string
  /** Invalid fields, alternative slots or the missing scope, depending on the error. */
  readonly details: readonly object[]
  /** The number of items that the response left out of `details`. */
  readonly detailsOmitted: number
  /** Include it when you contact support. */
  readonly requestId: string | null
  /** Seconds to wait before retrying, if the response said so. */
  readonly retryAfter: number | null

  constructor(status: number, body: ErrorBody, requestId: string | null, retryAfter: number | null) {
    super(`${status} ${body.message || body.error}`)
    this.status = status
    this.code = body.error
    this.key = body.message.startsWith(PREFIX) ? body.message.slice(PREFIX.length) : body.message
    this.details = body.details ?? []
    this.detailsOmitted = body.details_omitted ?? 0
    this.requestId = requestId
    this.retryAfter = retryAfter
  }
}
