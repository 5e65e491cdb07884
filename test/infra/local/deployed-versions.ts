import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { deployLocally } from '../../../infra/local/deployment.ts'
import { openLogDelivery } from '../../../infra/local/logs/log-delivery.ts'
import type { FeedbackListener } from '../../../infra/local/providers/feedback.ts'
import type { Template, TemplateResource } from '../../../infra/local/template/template.ts'
import { restApiTemplate } from './gateway/rest-api.ts'

export const METHODS = ['GET /patients', 'GET /doctors']

/** A synthesized version of the stack. Its functions return its name and how often they were called. */
export function version(name: string, methods = METHODS, more: Record<string, TemplateResource> = {}) {
  const directory = mkdtempSync(join(inject('runFolder'), 'version-'))
  const source = `let calls = 0; exports.handler = async () => ({ version: '${name}', calls: ++calls })`
  writeFileSync(join(directory, 'index.js'), source)
  const assembly = {
    stackName: 'Test',
    template: restApiTemplate(methods, more, name),
    otherStacks: [] as { stackName: string; template: Template }[],
    assetDirectory: () => directory,
    disposed: 0,
    dispose: async () => {
      assembly.disposed += 1
    },
  }
  return assembly
}

/** A deployment on addresses where nothing listens, except for DynamoDB if given. */
export function deployment(dynamodb = 'http://127.0.0.1:1') {
  const lines: string[] = []
  const listeners: FeedbackListener[] = []
  const logs = openLogDelivery(undefined)
  onTestFinished(() => logs.close())
  const deployed = deployLocally({
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
      inboxUrl: 'http://127.0.0.1:5/',
      sms: () => [],
      emails: async () => [],
      setListener: (listener) => void listeners.push(listener),
    },
    tableSuffix: '',
    environment: {},
    logs,
    log: (line) => lines.push(line),
  })
  onTestFinished(() => deployed.close())
  const call = async (serving: Awaited<ReturnType<typeof deployed.deploy>>, resource: string) => {
    const route = serving.api.routes.find((known) => known.resource === resource)
    const integration = route?.methods.get('GET')
    const functionArn = integration && 'functionArn' in integration ? integration.functionArn : ''
    const outcome = await serving.api.invoke(functionArn, '{}', '')
    return outcome.ok ? JSON.parse(outcome.payload) : outcome.error
  }
  return { ...deployed, call, lines, listener: () => listeners.at(-1) as FeedbackListener }
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
