/** The log group that the operator tool writes its lines of the access trail to. */
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation'
import { OPERATOR_LOG_STREAM } from '../../../shared/observability/access.ts'

export type OperatorLog = {
  /** Who runs the tool: the caller's ARN on AWS, `local` on a local stack. */
  readonly operator: string
  /** @param now milliseconds since the epoch */
  readonly put: (lines: readonly object[], now: number) => Promise<void>
}

type Post = (service: 'sts' | 'logs', headers: Record<string, string>, body: string) => Promise<string>

const TIMEOUT_MS = 5000

/** The log group of a local stack, which takes the request of CloudWatch Logs without a signature. */
export const localOperatorLog = (endpoint: string, logGroup: string): OperatorLog => ({
  operator: 'local',
  put: putLogEvents((_service, headers, body) => post(endpoint, headers, body), logGroup),
})

/** The log group of a deployed stack. The operator is the caller that STS sees. */
export async function deployedOperatorLog(
  client: Pick<CloudFormationClient, 'config'>,
  logGroup: string,
): Promise<OperatorLog> {
  const send = signedPost(client)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const identity = await send('sts', form, 'Action=GetCallerIdentity&Version=2011-06-15')
  const [, operator] = /<Arn>([^<]+)<\/Arn>/.exec(identity) ?? []
  if (operator === undefined) throw new Error('STS did not say who the caller is.')
  return { operator, put: putLogEvents(send, logGroup) }
}

const putLogEvents =
  (send: Post, logGroupName: string): OperatorLog['put'] =>
  async (lines, timestamp) => {
    const logEvents = lines.map((line) => ({ timestamp, message: JSON.stringify(line) }))
    const headers = {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'Logs_20140328.PutLogEvents',
    }
    const body = JSON.stringify({ logGroupName, logStreamName: OPERATOR_LOG_STREAM, logEvents })
    const text = await send('logs', headers, body)
    if (text.includes('rejectedLogEventsInfo')) throw new Error('CloudWatch Logs rejected the line.')
  }

/** Signs with the credentials and the signer of a client that the tool has anyway, for two calls without a client each. */
const signedPost =
  ({ config }: Pick<CloudFormationClient, 'config'>): Post =>
  async (service, headers, body) => {
    const region = await config.region()
    const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
    // The SDK's own variables for other endpoints.
    const endpoint =
      process.env[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] ?? `https://${service}.${region}.${suffix}`
    const { protocol, hostname, port, host, pathname: path } = new URL(endpoint)
    const scheme = { name: 'sigv4', signingName: service, signingRegion: region, properties: {} }
    const signer = await config.signer(scheme as Parameters<typeof config.signer>[0])
    const request = {
      method: 'POST',
      protocol,
      hostname,
      path,
      query: {},
      ...(port !== '' && { port: Number(port) }),
      headers: { ...headers, host },
      body,
    }
    const signed = await signer.sign(request as Parameters<typeof signer.sign>[0], {
      signingService: service,
      signingRegion: region,
    })
    const { host: _, ...sent } = signed.headers
    return post(endpoint, sent, body)
  }

async function post(url: string, headers: Record<string, string>, body: string): Promise<string> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const response = await fetch(url, { method: 'POST', headers, body, signal })
  const text = await response.text()
  // The text of an error of AWS names the action and the resource that is missing.
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 500)}`)
  return text
}
