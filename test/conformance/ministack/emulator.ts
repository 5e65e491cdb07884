/** ministack, an emulator of AWS in Python, and the commands that a platform engineer runs against it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation'
import { runProgram } from '../run-program.ts'

export const ACCOUNT = '123456789012'
export const REGION = 'eu-central-1'

export type Emulator = Awaited<ReturnType<typeof startEmulator>>

const PROJECT = join(import.meta.dirname, '../../..')

/** Long enough for a machine that is busy with much else. */
const MAX_WAIT_MS = 600_000

/**
 * Starts the emulator on a free port of this machine.
 * @param bin the folder with the programs of its virtual environment
 */
export async function startEmulator(bin: string, environment: NodeJS.ProcessEnv = {}) {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const inherited = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` }
  const child = spawn(join(bin, 'python'), ['-m', 'ministack'], {
    // A group of its own, which ends with its functions.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...inherited,
      AWS_ENDPOINT_URL: url,
      BIND_HOST: '127.0.0.1',
      GATEWAY_PORT: String(port),
      MINISTACK_ACCOUNT_ID: ACCOUNT,
      MINISTACK_REGION: REGION,
      PYTHONUNBUFFERED: '1',
      ...environment,
    },
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
  const ended = once(child, 'close')

  const clientEnvironment: NodeJS.ProcessEnv = {
    ...inherited,
    AWS_ENDPOINT_URL: url,
    AWS_ACCESS_KEY_ID: ACCOUNT,
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: REGION,
    CDK_DISABLE_CLI_TELEMETRY: 'true',
    CI: 'true',
  }

  /** Runs a program of the project, and returns what it printed. @throws Error with its output for another exit code */
  async function run(program: string, args: readonly string[], exitCode = 0): Promise<string> {
    const { code, printed, errors } = await runProgram(program, args, {
      cwd: PROJECT,
      environment: clientEnvironment,
    })
    if (code !== exitCode)
      throw new Error(
        `${program} ${args.join(' ')}: exit code ${code}\n${`${printed}${errors}`.slice(-4000)}`,
      )
    return printed
  }

  const cdk = (command: string, args: readonly string[] = [], exitCode = 0) =>
    run(join(PROJECT, 'node_modules/.bin/cdk'), [command, '--no-notices', ...args], exitCode)

  /** Settings for clients of the SDK. */
  const client = {
    endpoint: url,
    region: REGION,
    credentials: { accessKeyId: ACCOUNT, secretAccessKey: 'test' },
  }

  async function outputs(stack: string): Promise<Record<string, string>> {
    const { Stacks } = await new CloudFormationClient(client).send(
      new DescribeStacksCommand({ StackName: stack }),
    )
    const { Outputs = [] } = Stacks?.[0] ?? {}
    return Object.fromEntries(Outputs.map(({ OutputKey = '', OutputValue = '' }) => [OutputKey, OutputValue]))
  }

  /** Calls a service for which the project has no client. The signature is not checked. */
  const read = async (service: string, path: string, request: RequestInit = {}) => {
    const authorization = `AWS4-HMAC-SHA256 Credential=${ACCOUNT}/20260101/${REGION}/${service}/aws4_request, SignedHeaders=host, Signature=0`
    return (
      await fetch(`${url}${path}`, { ...request, headers: { ...request.headers, authorization } })
    ).text()
  }
  const call = (service: string, target: string) =>
    read(service, '/', {
      method: 'POST',
      headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target },
      body: '{}',
    })

  await waitFor('the emulator', async () => {
    if (child.exitCode !== null) throw new Error(`The emulator ended:\n${log}`)
    return fetch(`${url}/_ministack/health`).then(
      ({ ok }) => ok,
      () => false,
    )
  })

  return {
    client,
    run,
    cdk,
    /** Writes the templates and bundles of a stage to a folder. */
    synthesize: (folder: string, settings: Readonly<Record<string, string>>) =>
      cdk('synth', ['--quiet', '--output', folder, ...contextOf(settings)]),
    bootstrap: (folder: string) => cdk('bootstrap', ['--app', folder, `aws://${ACCOUNT}/${REGION}`]),
    /** Deploys stacks from the folder that `synthesize` wrote, with those that they depend on. */
    deploy: (folder: string, stacks: readonly string[]) =>
      cdk('deploy', ['--app', folder, '--require-approval', 'never', ...stacks]),
    destroy: (folder: string, stacks: readonly string[]) =>
      cdk('destroy', ['--app', folder, '--force', ...stacks]),
    /** Runs a command of the operator tool, and returns its result. */
    clinic: async (stack: string, ...args: string[]) =>
      JSON.parse(await run(process.execPath, ['bin/clinic.ts', '--stack', stack, '--json', ...args])),
    outputs,
    /** The address of the API of a stack. */
    apiUrl: async (stack: string): Promise<string> => {
      const { BaseUrl = '' } = await outputs(stack)
      return BaseUrl.replace(/^https:\/\/(\w+)[^/]+/, `${url}/_aws/execute-api/$1`)
    },
    /** The emails that were sent, as text. */
    emails: async () => (await fetch(`${url}/_ministack/ses/messages`)).text(),
    /** The messages in queues, as text. */
    queued: async () => (await fetch(`${url}/_ministack/sqs/messages`)).text(),
    version: async () => {
      const { version } = (await (await fetch(`${url}/_ministack/health`)).json()) as { version: string }
      return `ministack ${version}`
    },
    /** The names of what is in the account, but for what the bootstrap made: buckets, tables, logs, queues, functions and roles. */
    left: async (): Promise<string[]> => {
      const tables = await call('dynamodb', 'DynamoDB_20120810.ListTables')
      const logs = await call('logs', 'Logs_20140328.DescribeLogGroups')
      const names = [
        ...tables.matchAll(/"([^"]+-[^"]+)"/g),
        ...logs.matchAll(/"logGroupName": ?"([^"]+)"/g),
        ...(await read('s3', '/')).matchAll(/<Name>([^<]+)/g),
        ...(await read('lambda', '/2015-03-31/functions/')).matchAll(/"FunctionName": ?"([^"]+)"/g),
        ...(await read('iam', '/?Action=ListRoles&Version=2010-05-08')).matchAll(/<RoleName>([^<]+)/g),
        ...(await read('sqs', '/?Action=ListQueues&Version=2012-11-05')).matchAll(/<QueueUrl>([^<]+)/g),
      ].map(([, name = '']) => name)
      return names.filter((name) => !/^(cdk-|AWSServiceRole)/.test(name)).sort()
    },
    close: async () => {
      process.kill(-(child.pid as number), 'SIGTERM')
      const isEnded = await Promise.race([ended.then(() => true), sleep(20_000, false, { ref: false })])
      if (!isEnded) process.kill(-(child.pid as number), 'SIGKILL')
      await ended
    },
  }
}

/** Waits until a check returns something other than false. @throws Error that names what was waited for */
export async function waitFor<T>(what: string, check: () => Promise<T | false>, everyMs = 500): Promise<T> {
  for (const end = Date.now() + MAX_WAIT_MS; Date.now() < end; await sleep(everyMs)) {
    const found = await check()
    if (found !== false) return found
  }
  throw new Error(`${what} did not come within ${MAX_WAIT_MS / 1000} s.`)
}

const contextOf = (settings: Readonly<Record<string, string>>): string[] =>
  Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}
