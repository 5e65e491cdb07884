import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { deployLocally } from '../../../infra/local/deployment.ts'
import type { FeedbackListener } from '../../../infra/local/providers/feedback.ts'
import type { Template, TemplateResource } from '../../../infra/local/template/template.ts'
import { restApiTemplate } from './gateway/rest-api.ts'

export const METHODS = ['GET /patients', 'GET /doctors']

/** A synthesized version of the stack. Its functions return its name and how often they were called. */
export function version(name: string, methods = METHODS, more: Record<string, TemplateResource> = {}) {
  const directory = mkdtempSync(join(inject('runFolder'), 'version-'))
  const source = `let calls = 0; exports.handler = async () => ({ version: '${name}', calls: ++calls })`
  writeFileSync(join(directory, 'index.js'), source)
  return {
    stackName: 'Test',
    template: restApiTemplate(methods, more, name),
    otherStacks: [] as { stackName: string; template: Template }[],
    assetDirectory: () => directory,
    dispose: async () => {},
  }
}

/** Deploys on addresses where nothing listens, except for DynamoDB if given. */
export async function deployed(
  assembly: Parameters<typeof deployLocally>[0],
  {
    dynamodb = 'http://127.0.0.1:1',
    seed = async () => ({}),
  }: { dynamodb?: string; seed?: () => Promise<object> } = {},
) {
  const lines: string[] = []
  const listeners: FeedbackListener[] = []
  const deployment = await deployLocally(
    assembly,
    {
      region: 'us-east-1',
      stage: 'test',
      baseUrl: 'http://127.0.0.1:3000',
      endpoints: {
        dynamodb,
        sqs: 'http://127.0.0.1:2',
        sns: 'http://127.0.0.1:3',
        sesv2: 'http://127.0.0.1:4',
        logs: 'http://127.0.0.1:3000/_local/logs',
      },
      providers: {
        sms: () => [],
        emails: () => [],
        setListener: (listener) => void listeners.push(listener),
      },
      tableSuffix: '',
      environment: {},
      log: (line) => lines.push(line),
    },
    seed,
  )
  onTestFinished(() => deployment.close())
  return { ...deployment, lines, listener: listeners[0] as FeedbackListener }
}

/** A function that prints its event, decoded if it is one of CloudWatch Logs. The runner logs what is printed. */
const LOGGING_SOURCE = `exports.handler = async (event) => {
  const { data } = event.awslogs ?? {}
  const logs = data && JSON.parse(require('node:zlib').gunzipSync(Buffer.from(data, 'base64')))
  console.log('called with ' + JSON.stringify(logs ?? event))
}`

/** A version whose functions log their events. */
export function loggingVersion(
  more: Record<string, TemplateResource>,
  otherStacks: Template[] = [],
  rest: Partial<Template> = {},
) {
  const assembly = version('v1', METHODS, more)
  writeFileSync(join(assembly.assetDirectory(), 'index.js'), LOGGING_SOURCE)
  assembly.template = { ...assembly.template, ...rest }
  assembly.otherStacks = otherStacks.map((template, at) => ({ stackName: `Other-${at}`, template }))
  return assembly
}

/** The events that functions of a logging version were called with. */
export const loggedEvents = (lines: readonly string[]) =>
  lines.map((line) => JSON.parse(/called with (.*)$/.exec(line)?.[1] ?? JSON.stringify(line)))

export const DOCTORS = { 'Fn::GetAtt': ['GETPathxdoctorsFunction', 'Arn'] }
