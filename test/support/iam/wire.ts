import type { AwsRequest } from '../../../infra/local/functions/worker.ts'
import type { SdkCall } from './requests.ts'

/**
 * The call of the SDK that a request was sent for.
 * @throws Error for a protocol that is not known here
 */
export function sdkCall({ service = '', target, path, body }: AwsRequest): SdkCall {
  // `DynamoDB_20120810.GetItem`
  if (target) return { service, operation: target.split('.').at(-1) ?? '', input: JSON.parse(body) }
  if (service === 'ses' && path === '/v2/email/outbound-emails')
    return { service, operation: 'SendEmail', input: JSON.parse(body) }
  const form = Object.fromEntries(new URLSearchParams(body))
  if (form.Action) return { service, operation: form.Action, input: form }
  throw new Error(`${service} ${path} is not a known request`)
}
