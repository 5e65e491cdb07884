import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { basename, join } from 'node:path'
import { expect, inject, it, onTestFinished } from 'vitest'
import { bundleSizes } from '../../../bin/bench/bundles.ts'
import { bundleFunctions } from '../../../infra/functions/bundles.ts'
import { REFERENCE } from '../../../infra/settings/names.ts'
import { functionIds } from '../../../infra/stacks/deployment.ts'
import { stubFunctionEnvironment } from '../../support/functions.ts'
import { templatesOf } from '../../support/template.ts'

const folder = mkdtempSync(join(inject('runFolder'), 'bundles-test-'))

const metafile = await bundleFunctions(functionIds(), folder)
const { inputs, outputs } = metafile

it('stays within the bounds of all functions', () => {
  const { section, failures } = bundleSizes(functionIds(), metafile)
  expect(failures, section).toEqual([])
})

it('leaves out what a function does not need', () => {
  const bundled = new Map(
    Object.values(outputs).map(({ entryPoint = '', inputs }) => [
      basename(entryPoint, '.ts'),
      Object.entries(inputs)
        .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
        .map(([path]) => path),
    ]),
  )
  const idsWith = (part: string) =>
    functionIds().filter((id) => bundled.get(id)?.some((path) => path.includes(part)))
  // Lambda passes credentials in the environment.
  expect(idsWith('@aws-sdk/credential-provider-')).toEqual([])
  expect(idsWith('runtime/credentials.ts')).toEqual(idsWith('@aws-sdk/'))
  expect(idsWith('event-stream')).toEqual([])
  const ofPhones = ['create-patient', 'update-patient', 'send-message', 'sync-records', 'run-maintenance']
  expect(idsWith('libphonenumber')).toEqual(ofPhones)
  expect(idsWith('client-sesv2')).toEqual(['send-email'])
})

// The local runner, and so most tests, run other bundles of the same code.
it('has a handler in each deployed bundle', () => {
  const script = `for (const id of process.argv.slice(1)) {
    const { handler } = require('${folder}/' + id + '/bundle.js')
    if (typeof handler !== 'function') throw new Error(id)
  }`
  mkdirSync(join(folder, REFERENCE, 'files'), { recursive: true })
  onTestFinished(() => rmSync(join(folder, REFERENCE, 'files'), { recursive: true }))
  stubFunctionEnvironment('clinic-table')
  expect(execFileSync(process.execPath, ['-e', script, ...functionIds()]).toString()).toBe('')
})

// CloudFormation replaces the code of a function before its handler. During a rollback, the version before runs with the handler of the new one.
it('has the start of each function where the handler of every version has been, and nothing that is loaded instead', () => {
  const handlers = Object.values(templatesOf('dev')).flatMap(({ Resources }) =>
    Object.values(Resources).flatMap(({ Type, Properties: { FunctionName, Handler } }) =>
      Type === 'AWS::Lambda::Function' && FunctionName ? [Handler] : [],
    ),
  )
  expect(handlers.length).toBe(functionIds().length)
  expect([...new Set(handlers)]).toEqual(['index.handler'])
  for (const id of functionIds())
    expect([id, ...readdirSync(join(folder, id)).sort()]).toEqual([id, 'bundle.js', 'index.mjs'])
})

// Only calls that have event streams import them, and no function makes such a call.
it('imports modules of Node only, and event streams when they are used', () => {
  const imported = Object.values(inputs)
    .flatMap(({ imports }) => imports)
    .filter(({ path, external }) => external && !isBuiltin(path))
  const kinds = imported.map(({ path, kind }) => `${kind} ${path}`)
  expect([...new Set(kinds)]).toEqual(['dynamic-import @smithy/core/event-streams'])
})
