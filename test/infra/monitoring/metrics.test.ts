/** The metrics that alarms and the dashboard name, against those that functions record here and those that AWS documents. */
import { globSync, readFileSync } from 'node:fs'
import { SESv2Client, SendEmailCommand } from '@aws-sdk/client-sesv2'
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, expect, it, vi } from 'vitest'
import { dataStackName, monitoringStackName } from '../../../infra/settings/names.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { REPEATED_REJECTIONS } from '../../../shared/http/authenticate.ts'
import { NAMESPACE } from '../../../shared/observability/metrics.ts'
import { WORKERS } from '../../../shared/runtime/workers.ts'
import { tallyKey, tallyPartition } from '../../../shared/store/keys/calendar.ts'
import { messageDispatch } from '../../../shared/store/messages/dispatch.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import { patientWriter } from '../../../shared/store/patients/patient-writer.ts'
import { issueCredential } from '../../support/credentials.ts'
import { createWebhook } from '../../support/deliveries.ts'
import { handlerOf, request, stubFunctionEnvironment } from '../../support/functions.ts'
import { mockClient } from '../../support/mock-client.ts'
import { aPatient, newClinic, tableOfFile } from '../../support/table.ts'
import { type StackTemplate, templatesOf } from '../../support/template.ts'
import { batch, feedback, queued, receiptsOf } from '../functions/worker-events.ts'
import { AWS_METRICS } from './aws-metrics.ts'

/** Metrics that no alarm and no graph reads. */
const UNWATCHED: Record<string, string> = {
  delivery_not_queued: 'the sweep queues the delivery within a minute; sweep_lag_ms shows if it does not',
  feedback_for_nobody: 'other applications of the account cause it too, so no number of them is a defect',
  receipt_unreadable: 'the SMS stays sent, which the graph of messages by status shows',
}

const STAGE = 'dev'
const sns = mockClient(SNSClient)
const sqs = mockClient(SQSClient)
const ses = mockClient(SESv2Client)

/** The lines that functions wrote. */
const { written } = vi.hoisted(() => ({ written: [] as Record<string, unknown>[] }))
vi.mock(import('../../../shared/observability/log.ts'), async (original) => ({
  ...(await original()),
  logToStdout: (line) => void written.push(line),
}))
vi.mock(import('../../../shared/delivery/webhooks/webhook-transport.ts'), async (original) => ({
  ...(await original()),
  webhookTransport: () => ({
    post: async (url: string) => {
      if (url.endsWith('/none')) return { kind: 'failed', reason: 'connection', latencyMs: 1 }
      return { kind: 'responded', status: Number(url.slice(-3)), retryAfter: null, latencyMs: 1 }
    },
  }),
}))

const db = tableOfFile()
let clinic: Clinic
let patient: string
let credential: Awaited<ReturnType<typeof issueCredential>>

const ask = async (id: string, sent: { path?: Record<string, string>; body?: object } = {}) =>
  (await request(id, { ...sent, headers: credential.headers })).body.data
const invoke = async (id: string, event: object = {}) =>
  ((await handlerOf({ id })) as (event: object) => Promise<unknown>)(event)

/** Accepts a message and returns its id. */
async function accept(channel: 'sms' | 'email'): Promise<string> {
  await ask('send-message', { body: { channel, patient_id: patient, message: 'Hello' } })
  const { items } = await messageStore(db).page(clinic.id, {}, { page: 1, limit: 1 })
  return items[0]?.id ?? ''
}

async function sendMessages(): Promise<void> {
  const providerIds = ['sms-1', 'sms-2']
  sns.on(PublishCommand).callsFake(async () => ({ MessageId: providerIds.shift() }))
  sqs.on(SendMessageCommand).resolves({})
  ses.on(SendEmailCommand).resolves({ MessageId: 'ses-1' })
  await accept('sms')
  await accept('sms')
  const emails = [await accept('email'), await accept('email')]
  await invoke('send-email', batch(emails.map((id) => queued(clinic.id, id))))
  const waiting = await accept('email')
  ses.on(SendEmailCommand).rejects({ name: 'MessageRejected', $metadata: { httpStatusCode: 400 } })
  await invoke('send-email', batch([queued(clinic.id, waiting)]))
  const [delivered = '', bounced = ''] = emails
  const reports = [
    feedback(clinic.id, 'Delivery', delivered),
    feedback(clinic.id, 'Bounce', bounced),
    feedback(clinic.id, 'Delivery', newUuid()),
  ]
  await invoke('email-feedback', batch(reports))
  await invoke('sms-receipts', receiptsOf(['sms-1']))
  await invoke('sms-receipts', receiptsOf(['sms-2'], 'FAILURE'))
  await invoke('sms-receipts', receiptsOf(['sms-1'], 'UNREADABLE'))
}

async function loseMessages(): Promise<void> {
  sns.on(PublishCommand).callsFake(async () => {
    vi.spyOn(db.client.constructor.prototype, 'send').mockRejectedValue(new Error('down'))
    return { MessageId: 'sms-3' }
  })
  await accept('sms').finally(() => vi.restoreAllMocks())
  sqs.on(SendMessageCommand).rejects(new Error('down'))
  await accept('email')
  const dispatch = messageDispatch(db)
  const claimed = await accept('email')
  const read = await dispatch.find(clinic.id, claimed)
  if (read) await dispatch.claim(clinic.id, read, { token: 't', until: Date.now() + 1000 })
}

async function deliver(): Promise<void> {
  for (const at of ['200', '500', 'none']) {
    const { id: webhook } = await createWebhook(db.table, clinic.id, { url: `https://example.com/${at}` })
    sqs.on(SendMessageBatchCommand).rejects(new Error('down'))
    const { id: delivery } = await ask('ping-webhook', { path: { id: webhook } })
    sqs.on(SendMessageBatchCommand).resolves({})
    await invoke('deliver-event', batch([{ clinic: clinic.id, webhook, delivery }]))
  }
}

async function loseTable(): Promise<void> {
  const webhook = await createWebhook(db.table, clinic.id, { url: 'https://example.com/200' })
  const { id: delivery } = await ask('ping-webhook', { path: { id: webhook.id } })
  const error = Object.assign(new Error('down'), { name: 'TimeoutError' })
  sqs.on(SendMessageCommand).resolves({})
  const send = vi.spyOn(db.client.constructor.prototype, 'send').mockRejectedValue(error)
  await invoke('send-email', batch([queued(clinic.id, newUuid())]))
  await invoke('deliver-event', batch([{ clinic: clinic.id, webhook: webhook.id, delivery }]))
  send.mockRestore()
}

/** The request cannot be counted, and nothing is written after its transaction. */
async function loseTableAfterChange(): Promise<void> {
  const { prototype } = db.client.constructor
  const { send } = prototype
  let isDown = false
  const failing = vi.spyOn(prototype, 'send').mockImplementation(async function (this: object, command) {
    if (isDown || command instanceof UpdateCommand) throw new Error('down')
    isDown = command instanceof TransactWriteCommand
    return send.call(this, command)
  })
  await ask('update-patient', { path: { id: patient }, body: { last_name: 'New' } })
  failing.mockRestore()
}

async function changeListMeanwhile(): Promise<void> {
  const tallies = tallyKey(tallyPartition(clinic.id, 'A', null), '2026-05')
  await db.table.transact([db.table.putWrite({ ...tallies, '4c': 2, v: 3 })])
  await ask('list-appointments')
}

async function guessSecrets(): Promise<void> {
  const { headers } = credential
  credential = { ...credential, headers: { Authorization: `${headers.Authorization}-wrong` } }
  for (let at = 0; at < REPEATED_REJECTIONS; at++) await ask('list-doctors')
  credential = { ...credential, headers }
}

async function sweep(): Promise<void> {
  sqs.on(SendMessageCommand).resolves({})
  vi.useFakeTimers({ now: Date.now() + 10 * 60_000, toFake: ['Date'] })
  for (const { id, trigger } of WORKERS) if (trigger.type === 'schedule') await invoke(id)
  vi.useRealTimers()
}

type Dimensions = readonly (readonly [name: string, value: string])[]

/** A series as text: the metric with its namespace, and the dimensions. */
const seriesOf = (namespace: string, metric: string, dimensions: Dimensions): string =>
  [`${namespace} ${metric}`, ...dimensions.map((one) => one.join('=')).sort()].join(' ')

type MetricLine = Record<string, unknown> & {
  _aws: {
    CloudWatchMetrics: { Namespace: string; Dimensions: string[][]; Metrics: { Name: string }[] }[]
  }
}

/** The series of a line in CloudWatch's embedded metric format. */
const seriesIn = (line: MetricLine): string[] =>
  line._aws.CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) =>
    Dimensions.flatMap((names) => {
      const dimensions = names.map((name) => [name, String(line[name])] as const)
      return Metrics.map(({ Name }) => seriesOf(Namespace, Name, dimensions))
    }),
  )

const recorded = (): Set<string> =>
  new Set(written.flatMap((line) => ('_aws' in line ? seriesIn(line as MetricLine) : [])))

type Watched = { readonly namespace: string; readonly metric: string; readonly dimensions: Dimensions }

type AlarmMetric = {
  Namespace: string
  MetricName: string
  Dimensions?: { Name: string; Value: unknown }[]
}
type Alarm = AlarmMetric & { Metrics?: { MetricStat?: { Metric: AlarmMetric } }[] }
type Widget = { properties: { metrics?: (string | object)[][] } }

const templates = templatesOf(STAGE, { alarmEmail: 'ops@example.com' })
const monitoring = templates[monitoringStackName(STAGE)] as StackTemplate
const ofType = <P>({ Resources }: StackTemplate, type: string): P[] =>
  Object.values(Resources).flatMap(({ Type, Properties }) => (Type === type ? [Properties as P] : []))

/** A value of the template; a reference as its JSON text. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function watchedByAlarms(): Watched[] {
  return ofType<Alarm>(monitoring, 'AWS::CloudWatch::Alarm').flatMap(({ Metrics, ...alarm }) => {
    const metrics = Metrics
      ? Metrics.flatMap(({ MetricStat }) => (MetricStat ? [MetricStat.Metric] : []))
      : [alarm]
    return metrics.map(({ Namespace, MetricName, Dimensions = [] }) => ({
      namespace: Namespace,
      metric: MetricName,
      dimensions: Dimensions.map(({ Name, Value }) => [Name, textOf(Value)] as const),
    }))
  })
}

function watchedByWidgets(): Watched[] {
  type Body = { DashboardBody: { 'Fn::Join': [string, unknown[]] } }
  const [dashboard] = ofType<Body>(monitoring, 'AWS::CloudWatch::Dashboard')
  const parts = dashboard?.DashboardBody['Fn::Join'][1] ?? []
  const isText = (part: unknown): part is string => typeof part === 'string'
  const body = parts.map((part) => (isText(part) ? part : JSON.stringify(textOf(part)).slice(1, -1))).join('')
  const { widgets } = JSON.parse(body) as { widgets: Widget[] }
  return widgets
    .flatMap(({ properties }) => properties.metrics ?? [])
    .flatMap((line) => {
      const [namespace, metric, ...rest] = line.filter(isText)
      if (namespace === undefined || metric === undefined) return []
      const dimensions = rest.flatMap((name, at) =>
        at % 2 === 0 ? [[name, rest[at + 1] ?? ''] as const] : [],
      )
      return [{ namespace, metric, dimensions }]
    })
}

const watched = [...watchedByAlarms(), ...watchedByWidgets()]
const ofService = watched.filter(({ namespace }) => namespace === NAMESPACE)
const ofAws = watched.filter(({ namespace }) => namespace !== NAMESPACE)

const namesIn = (series: Iterable<string>): string[] =>
  [...new Set([...series].map((one) => one.split(' ')[1] ?? ''))].sort()

beforeAll(async () => {
  stubFunctionEnvironment(db.name, { STAGE, AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand' })
  clinic = await newClinic(db.table)
  credential = await issueCredential(db.table, clinic)
  const record = aPatient()
  patient = record.id
  await patientWriter(db).createMany(clinic.id, [record])
  await sendMessages()
  await loseMessages()
  await deliver()
  await loseTable()
  await loseTableAfterChange()
  await changeListMeanwhile()
  await guessSecrets()
  await sweep()
}, 60_000)

it('functions record here every metric that their code names', () => {
  const code = globSync('{functions,shared}/**/*.ts', { exclude: ['**/node_modules', 'shared/maintenance'] })
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
  const names = [...code.matchAll(/\b(?:count|recordMs)\(\s*'(\w+)'/g)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(10)
  expect(namesIn(recorded())).toEqual([...new Set(names)].sort())
})

it('alarms and graphs name series that functions record', () => {
  const series = recorded()
  const named = ofService.map(({ namespace, metric, dimensions }) => seriesOf(namespace, metric, dimensions))
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter((one) => !series.has(one))).toEqual([])
})

it('every recorded metric is in an alarm or a graph, or listed with the reason why not', () => {
  const inUse = new Set(ofService.map(({ metric }) => metric))
  expect(namesIn(recorded()).filter((name) => !inUse.has(name))).toEqual(Object.keys(UNWATCHED).sort())
})

it('alarms and graphs name metrics of AWS that its documentation has, of resources that the stage has', () => {
  const data = templates[dataStackName(STAGE)] as StackTemplate
  const properties = <P>(type: string) => Object.values(templates).flatMap((stack) => ofType<P>(stack, type))
  const imported = (type: string) =>
    Object.values(data.Outputs ?? {}).flatMap(({ Value, Export }) => {
      const { Ref: id = '' } = Value as { Ref?: string }
      return data.Resources[id]?.Type === type ? [textOf({ 'Fn::ImportValue': Export?.Name })] : []
    })
  const values: Record<string, (string | undefined)[]> = {
    QueueName: properties<{ QueueName?: string }>('AWS::SQS::Queue').map((queue) => queue.QueueName),
    FunctionName: properties<{ FunctionName?: string }>('AWS::Lambda::Function').map(
      (lambda) => lambda.FunctionName,
    ),
    ApiName: properties<{ Name: string }>('AWS::ApiGateway::RestApi').map(({ Name }) => Name),
    Stage: properties<{ StageName: string }>('AWS::ApiGateway::Stage').map(({ StageName }) => StageName),
    TableName: imported('AWS::DynamoDB::Table'),
    DeliveryStreamName: imported('AWS::KinesisFirehose::DeliveryStream'),
    Currency: ['USD'],
  }
  for (const { namespace, metric, dimensions } of ofAws) {
    const name = `${namespace} ${metric}`
    const names = dimensions.map(([dimension]) => dimension).sort()
    expect([name, names]).toEqual([name, AWS_METRICS[name]?.dimensions])
    for (const [dimension, value] of dimensions) expect(values[dimension]).toContain(value)
  }
  expect(new Set(ofAws.map(({ namespace }) => namespace)).size).toBe(7)
})
