import type { ProviderFeedback } from '../domain/messages/message.ts'
import { faultOf } from './provider-errors.ts'

/** The outcome of calling a provider. */
export type SendResult = Outcome & {
  /** What a simulated provider reports on the message, in order. A real one does so later, in its own way. */
  readonly feedback?: readonly ProviderFeedback[]
}

type Outcome =
  | { readonly kind: 'accepted'; readonly providerMessageId: string }
  /** The provider rejects this message permanently. */
  | { readonly kind: 'rejected'; readonly reason: string }
  /** The provider certainly does not have the message: it may be sent again. */
  | { readonly kind: 'unavailable'; readonly reason: string }
  /** The provider may have the message: it must not be sent again. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** The result of a successful call. A response without a message id does not prove that the provider has the message. */
export const toAcceptedResult = ({ MessageId = '' }: { MessageId?: string | undefined }): SendResult =>
  MessageId === ''
    ? { kind: 'unknown', reason: LOST_RESPONSE }
    : { kind: 'accepted', providerMessageId: MessageId }

/** Network errors before a connection is established. */
const CONNECTION_ERRORS = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(NET|HOST)UNREACH)$/

/** The SDK's timeouts have no codes. This one ends before there is a connection, so nothing was sent. */
const CONNECTION_TIMEOUT = /did not establish a connection/

type SdkError = { name?: string; code?: string; message?: string; $metadata?: { httpStatusCode?: number } }

/**
 * The result of a failed call. In doubt it is `unknown`: a lost response looks like a connection reset, a timeout or a
 * proxy's 500 or 503, and another attempt could send the message twice.
 */
export function toSendResult(error: unknown): Exclude<SendResult, { kind: 'accepted' }> {
  const { name = 'Error', code = '', message = '', $metadata } = error as SdkError
  const status = $metadata?.httpStatusCode
  if (CONNECTION_ERRORS.test(code))
    return { kind: 'unavailable', reason: `The provider could not be reached: ${code}` }
  if (name === 'TimeoutError' && CONNECTION_TIMEOUT.test(message))
    return { kind: 'unavailable', reason: `The provider could not be reached: ${name}` }
  if (name === 'CredentialsProviderError') return { kind: 'unavailable', reason: `Not sent: ${name}` }
  if (status === undefined || status < 400) return { kind: 'unknown', reason: LOST_RESPONSE }
  const fault = faultOf(name, message)
  if (status >= 500 && fault === 'passing')
    return { kind: 'unavailable', reason: `The provider is not available: ${name}` }
  if (status >= 500) return { kind: 'unknown', reason: LOST_RESPONSE }
  if (fault === 'recipient') return { kind: 'rejected', reason: `The provider rejected it: ${name}` }
  return { kind: 'unavailable', reason: `The provider did not accept it: ${name}` }
}

export const LOST_RESPONSE = "The provider's response was lost: the message may have been sent"
