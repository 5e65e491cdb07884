/** Settings of the shell that the tool needs for a stack on AWS. */

const EXPIRED = /ExpiredToken|RequestExpired|Token is expired|session .*(expired|invalid)/i
const UNKNOWN = /InvalidClientTokenId|UnrecognizedClient|InvalidSignature|SignatureDoesNotMatch/

/** What to set when AWS cannot be called with the settings of the shell; null for any other error. */
export function describeMissingSettings(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const text = `${error.name} ${error.message}`
  if (error.message === 'Region is missing')
    return 'No AWS region is set. Set AWS_REGION to the region of the stack, or AWS_PROFILE to a profile that has one.'
  if (EXPIRED.test(text))
    return 'The AWS credentials have expired. Get new ones, for example with "aws sso login", and run the command again.'
  if (UNKNOWN.test(text))
    return 'AWS does not accept the credentials. Check AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.'
  if (/CredentialsProviderError|TokenProviderError/.test(error.name))
    return `No AWS credentials were found. Set AWS_PROFILE to a profile that has some. AWS: ${error.message}`
  return null
}
