/**
 * `recipient`: the provider will never take this message. `sender`: it takes no message of this account or with these
 * settings, until a person repairs them. `passing`: it takes no message for now.
 */
export type Fault = 'recipient' | 'sender' | 'passing'

/** An error of SES or SNS: the beginning of its name, and what its text says if the name alone does not decide. */
type ProviderError = { readonly name: RegExp; readonly text?: RegExp; readonly fault: Fault }

/**
 * THE TABLE OF PROVIDER ERRORS. The first line that matches applies. A message that is retried in error fails after a day; one
 * that fails in error is lost. So the recipient is at fault only where that is certain.
 */
const PROVIDER_ERRORS: readonly ProviderError[] = [
  // SES uses this name also if the sender is not verified, and if the sending of the account is paused. The text names a sender that is
  // not verified, so it can contain any word.
  { name: /^MessageRejected/, text: /not verified/i, fault: 'sender' },
  { name: /^MessageRejected/, text: /blacklisted|virus/i, fault: 'recipient' },
  { name: /^MessageRejected/, fault: 'sender' },
  { name: /^BadRequest/, text: /configuration set/i, fault: 'sender' },
  // SNS names the attributes of the message, which are settings of the stage.
  {
    name: /^(InvalidParameter|ParameterValueInvalid)/,
    text: /MessageAttributes|AWS\.SNS\.SMS/,
    fault: 'sender',
  },
  { name: /^(BadRequest|InvalidParameter|ParameterValueInvalid|Validation|OptedOut)/, fault: 'recipient' },
  { name: /^(Throttl|TooManyRequests|LimitExceeded|SlowDown|RequestExpired)/, fault: 'passing' },
  { name: /^(ServiceUnavailable|InternalServiceErrorException)/, fault: 'passing' },
]

/** Whose fault an error is. Others than those of the table concern credentials, permissions, the account or its settings. */
export const faultOf = (errorName: string, errorText: string): Fault =>
  PROVIDER_ERRORS.find(({ name, text }) => name.test(errorName) && (text?.test(errorText) ?? true))?.fault ??
  'sender'
