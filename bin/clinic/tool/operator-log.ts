/** The log group that the operator tool writes its lines of the access trail to. */
import {
  CloudWatchLogsClient,
  type CloudWatchLogsClientConfig,
  PutLogEventsCommand,
} from '@aws-sdk/client-cloudwatch-logs'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'
import { OPERATOR_LOG_STREAM } from '../../../shared/observability/access.ts'

export type OperatorLog = {
  /** Who runs the tool: the caller's ARN on AWS, `local` on a local stack. */
  readonly operator: string
  /** @param now milliseconds since the epoch */
  readonly put: (lines: readonly object[], now: number) => Promise<void>
}

/** One attempt: the line of a request whose reply was lost would be written twice. */
const ONCE = {
  maxAttempts: 1,
  requestHandler: { connectionTimeout: 5000, requestTimeout: 5000, throwOnRequestTimeout: true },
}

/** The log group of a local stack, which takes the request of CloudWatch Logs. */
export const localOperatorLog = (endpoint: string, logGroup: string): OperatorLog => ({
  operator: 'local',
  put: putLogEvents(logGroup, {
    endpoint,
    region: 'local',
    credentials: { accessKeyId: 'operator', secretAccessKey: 'local' },
  }),
})

/** The log group of a deployed stack. The operator is the caller that STS sees. */
export async function deployedOperatorLog(logGroup: string): Promise<OperatorLog> {
  const { Arn: operator } = await new STSClient(ONCE).send(new GetCallerIdentityCommand())
  if (operator === undefined) throw new Error('STS did not say who the caller is.')
  return { operator, put: putLogEvents(logGroup) }
}

function putLogEvents(logGroupName: string, config: CloudWatchLogsClientConfig = {}): OperatorLog['put'] {
  const client = new CloudWatchLogsClient({ ...ONCE, ...config })
  return async (lines, timestamp) => {
    const logEvents = lines.map((line) => ({ timestamp, message: JSON.stringify(line) }))
    const { rejectedLogEventsInfo } = await client.send(
      new PutLogEventsCommand({ logGroupName, logStreamName: OPERATOR_LOG_STREAM, logEvents }),
    )
    if (rejectedLogEventsInfo) throw new Error('CloudWatch Logs rejected the line.')
  }
}
