import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { deployLocally } from '../../infra/local/deployment.ts'
import type { TemplateResource } from '../../infra/local/template.ts'
import { restApiTemplate } from './rest-api.ts'

const METHODS = ['GET /patients', 'GET /doctors']

/** A synthesized version whose functions tell their version and how often they were called. */
function version(name: string, methods = METHODS, more: Record<string, TemplateResource> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'version-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const source = `let calls = 0; exports.handler = async () => ({ version: '${name}', calls: ++calls })`
  writeFileSync(join(directory, 'index.js'), source)
  const assembly = {
    stackName: 'Test',
    template: restApiTemplate(methods, more, name),
    assetDirectory: () => directory,
    disposed: 0,
    dispose: async () => {
      assembly.disposed += 1
    },
  }
  return assembly
}

function deployment() {
  const deployed = deployLocally({
    region: 'us-east-1',
    stage: 'test',
    baseUrl: 'http://127.0.0.1:3000',
    endpoints: { dynamodb: 'http://127.0.0.1:1', sqs: 'http://127.0.0.1:2' },
    environment: {},
    log: () => {},
  })
  onTestFinished(() => deployed.close())
  const call = async (serving: Awaited<ReturnType<typeof deployed.deploy>>, resource: string) => {
    const route = serving.api.routes.find((known) => known.resource === resource)
    const outcome = await serving.api.invoke(route?.methods.get('GET')?.functionArn ?? '', '{}', '')
    return outcome.ok ? JSON.parse(outcome.payload) : outcome.error
  }
  return { ...deployed, call }
}

it('takes over new code, and leaves functions that have not changed as they are', async () => {
  const { deploy, call } = deployment()
  const first = await deploy(version('v1'))
  await Promise.all([call(first, '/patients'), call(first, '/doctors')])

  const changed = version('v2')
  const doctors = 'GETPathxdoctorsFunction'
  const Resources = { ...changed.template.Resources, [doctors]: version('v1').template.Resources[doctors] }
  const second = await deploy({ ...changed, template: { Resources } as typeof changed.template })
  expect(await call(second, '/patients')).toEqual({ version: 'v2', calls: 1 })
  expect(await call(second, '/doctors')).toEqual({ version: 'v1', calls: 2 })
})

it('keeps the files of the version before, and those of no older one', async () => {
  const { deploy, close } = deployment()
  const versions = ['v1', 'v2', 'v3'].map((name) => version(name))
  for (const each of versions) await deploy(each)
  expect(versions.map(({ disposed }) => disposed)).toEqual([1, 0, 0])
  await close()
  expect(versions.map(({ disposed }) => disposed)).toEqual([1, 1, 1])
})

it.each([
  [
    'an event source it does not have',
    { Odd: { Type: 'AWS::Lambda::EventSourceMapping', Properties: { EventSourceArn: 'arn:aws:kinesis:x' } } },
  ],
  [
    'a gateway response it cannot render',
    {
      Odd: {
        Type: 'AWS::ApiGateway::GatewayResponse',
        Properties: { ResponseParameters: { 'gatewayresponse.header.x': 'odd' } },
      },
    },
  ],
])('leaves the running version alone when the next one has %s', async (_what, more) => {
  const { deploy, call } = deployment()
  const first = await deploy(version('v1'))
  const broken = version('v2', METHODS, more)
  await expect(deploy(broken)).rejects.toThrow(/Odd maps/)
  expect(broken.disposed).toBe(1)
  expect(await call(first, '/patients')).toEqual({ version: 'v1', calls: 1 })
})

it('ends a function that the next version does not have', async () => {
  const { deploy, call } = deployment()
  const first = await deploy(version('v1'))
  const second = await deploy(version('v2', ['GET /patients']))
  expect(await call(second, '/patients')).toMatchObject({ version: 'v2' })
  await expect(call(first, '/doctors')).rejects.toThrow(/no function of the stack/)
})

it('gives outputs the address that the API has here', async () => {
  const { deploy, outputs } = deployment()
  const assembly = version('v1')
  const parts = ['https://', { Ref: 'Api' }, '.execute-api.us-east-1.amazonaws.com/', { Ref: 'Stage' }, '/']
  const Value = { 'Fn::Join': ['', parts] }
  const Resources = {
    ...assembly.template.Resources,
    Stage: { Type: 'AWS::ApiGateway::Stage', Properties: { StageName: 'Test-Stage' } },
  }
  await deploy({ ...assembly, template: { Resources, Outputs: { Url: { Value } } } })
  expect(outputs()).toEqual({ Url: 'http://127.0.0.1:3000/' })
})

it.each([
  ['two APIs', { Other: { Type: 'AWS::ApiGateway::RestApi' } }, /2 REST APIs/],
  [
    'binary media types',
    { Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { BinaryMediaTypes: ['*/*'] } } },
    /Api has BinaryMediaTypes/,
  ],
  [
    'a method without its function',
    { GETPathxdoctorsFunction: { Type: 'AWS::Lambda::Function', Condition: 'Never' } },
    /GET \/doctors calls/,
  ],
])('refuses a template with %s', async (_what, more, message) => {
  const { deploy } = deployment()
  const odd = version('v1', METHODS, more)
  const Conditions = { Never: { 'Fn::Equals': [1, 2] } }
  await expect(deploy({ ...odd, template: { ...odd.template, Conditions } })).rejects.toThrow(message)
})
