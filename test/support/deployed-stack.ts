/** Plays the services of AWS that the operator tool uses for a deployed stack. DynamoDB is the engine of the test run. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, inject, vi } from 'vitest'
import type { Ask } from '../../bin/clinic/tool/confirmation.ts'
import type { CommandAccess } from '../../shared/observability/access.ts'
import { runTool } from './operator-tool.ts'
import { tableOfFile } from './table.ts'

/** The caller that STS sees. */
export const CALLER_ARN = 'arn:aws:sts::123456789012:assumed-role/Operator/ada'

const IDENTITY = `<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>${CALLER_ARN}</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`

/** A call of DynamoDB: its name, and its input in DynamoDB's format. */
export type RecordedCall = { readonly operation: string; readonly input: any }

/**
 * A table of its own for the test file, and commands on a stack that is deployed with it. `more` are further outputs of the stack,
 * which may change.
 */
export function deployedTable(
  more: Record<string, string> = {},
  beforeReply?: (call: RecordedCall) => Promise<void>,
) {
  const db = tableOfFile()
  const outputs: Record<string, string> = { OperatorLogGroup: 'operator-group', ...more }
  let stack: Awaited<ReturnType<typeof deployedStack>>
  beforeAll(async () => {
    outputs.TableName = db.name
    stack = await deployedStack(outputs, beforeReply)
  })
  return {
    db,
    outputs,
    run: (...args: string[]) => stack.run(...args),
    runAsked: (ask: Ask | undefined, ...args: string[]) => stack.runAsked(ask, ...args),
  }
}

/**
 * Starts it, and stops it at the end of the test file. `outputs` are the stack's, and may change. `beforeReply` delays the
 * response of a call of DynamoDB.
 */
export async function deployedStack(
  outputs: Record<string, string>,
  beforeReply: (call: RecordedCall) => Promise<void> = async () => {},
) {
  const lines: CommandAccess[] = []
  const calls: RecordedCall[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const [service, operation = ''] = String(request.headers['x-amz-target'] ?? '').split('.')
    if (service?.startsWith('DynamoDB')) {
      const call = { operation, input: JSON.parse(body) }
      calls.push(call)
      const {
        host: _,
        connection: __,
        'content-length': ___,
        'transfer-encoding': ____,
        ...rest
      } = request.headers
      const headers = rest as Record<string, string>
      const reply = await fetch(inject('dynamodb'), { method: 'POST', headers, body })
      const content = Buffer.from(await reply.arrayBuffer())
      await beforeReply(call)
      response.statusCode = reply.status
      response.end(content)
    } else if (service) {
      for (const { message } of JSON.parse(body).logEvents) lines.push(JSON.parse(message))
      response.end('{}')
    } else if (body.includes('GetCallerIdentity')) response.end(IDENTITY)
    else response.end(describedStack(outputs))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const service of ['CLOUDFORMATION', 'STS', 'CLOUDWATCH_LOGS', 'DYNAMODB'])
    vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, endpoint)
  vi.stubEnv('AWS_REGION', 'local')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test')
  afterAll(() => {
    vi.unstubAllEnvs()
    server.closeAllConnections()
    server.close()
  })

  /** Runs a command. Returns its exit code, what it printed, its lines of the access trail and its calls of DynamoDB. */
  const run = (...args: string[]) => runAsked(undefined, ...args)

  /** The same at a terminal, where `ask` answers the questions. */
  async function runAsked(ask: Ask | undefined, ...args: string[]) {
    lines.length = 0
    calls.length = 0
    const { code, printed, errors } = await runTool(['--stack', 'clinic', ...args], {}, ask)
    // The clinic that a write names is tested once, in clinic-choice.test.ts.
    const named = errors.replace(/^Clinic: .*\n/m, '')
    return { code, printed, errors: named, lines: [...lines], calls: [...calls] }
  }

  return { run, runAsked }
}

type Outcome = { readonly code: number; readonly printed: string; readonly errors: string }

/** The error of a command that is rejected: it exits with code 2, and prints nothing else. */
export async function rejection(command: Promise<Outcome>): Promise<string> {
  const { code, printed, errors } = await command
  expect([code, printed]).toEqual([2, ''])
  return errors
}

/** What a command prints that succeeds. */
export async function output(command: Promise<Outcome>): Promise<string> {
  const { code, printed, errors } = await command
  expect(code, errors).toBe(0)
  return printed
}

/** `LastUpdatedTime` is the stack's own, and not one of its outputs. */
function describedStack({ LastUpdatedTime, ...outputs }: Readonly<Record<string, string>>): string {
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  )
  const updated = LastUpdatedTime ? `<LastUpdatedTime>${LastUpdatedTime}</LastUpdatedTime>` : ''
  const stack = `<member><StackName>clinic</StackName>${updated}<Outputs>${members.join('')}</Outputs></member>`
  return `<DescribeStacksResponse><DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult></DescribeStacksResponse>`
}
