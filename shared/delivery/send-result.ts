/** What is known of a message once its provider was called. */
export type SendResult =
  | { readonly kind: 'accepted'; readonly providerMessageId: string }
  /** The provider will never take this message. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Provably not handed over, for now: it may be tried again. */
  | { readonly kind: 'unavailable'; readonly reason: string }
  /** No answer came: the provider may have it, so it must not be sent again. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** What an answer means: one that names no message comes from somebody else, or took none. */
export const toAcceptedResult = ({ MessageId = '' }: { MessageId?: string | undefined }): SendResult =>
  MessageId === ''
    ? { kind: 'unknown', reason: LOST_RESPONSE }
    : { kind: 'accepted', providerMessageId: MessageId }

/** What a provider says of one message, not of itself. */
const REFUSAL_ERRORS =
  /^(MessageRejected|BadRequest|InvalidParameter|ParameterValueInvalid|Validation|OptedOut)/

/** Answers of a server that say that it did nothing. */
const NOT_PROCESSED_ERRORS = /^(ServiceUnavailable|InternalServiceErrorException|SlowDown)/

/** The connection was never made, so nothing was said. */
const CONNECTION_ERRORS = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(NET|HOST)UNREACH)$/

type SdkError = { name?: string; code?: string; $metadata?: { httpStatusCode?: number } }

/**
 * What an error of a provider's client means for the message. In doubt it is unknown: a lost reply looks like a reset,
 * a timeout, or a proxy's 500, and sending again would send twice.
 */
export function toSendResult(error: unknown): Exclude<SendResult, { kind: 'accepted' }> {
  const { name = 'Error', code = '', $metadata } = error as SdkError
  const status = $metadata?.httpStatusCode
  if (CONNECTION_ERRORS.test(code))
    return { kind: 'unavailable', reason: `The provider could not be reached: ${code}` }
  if (name === 'CredentialsProviderError') return { kind: 'unavailable', reason: `Not sent: ${name}` }
  if (status === undefined || status < 400) return { kind: 'unknown', reason: LOST_RESPONSE }
  if (status === 503 || NOT_PROCESSED_ERRORS.test(name))
    return { kind: 'unavailable', reason: `The provider is not available: ${name}` }
  if (status >= 500) return { kind: 'unknown', reason: LOST_RESPONSE }
  if (REFUSAL_ERRORS.test(name)) return { kind: 'refused', reason: `The provider refused it: ${name}` }
  // Throttled, paused, not allowed: true of every message now, and of this one later perhaps no more.
  return { kind: 'unavailable', reason: `The provider did not take it: ${name}` }
}

export const LOST_RESPONSE = "The provider's reply was lost: it may have been sent"
