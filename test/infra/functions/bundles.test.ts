import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { expect, inject, it } from 'vitest'
import { bundleSizes } from '../../../bin/bench/bundles.ts'
import { bundle, bundleFunctions } from '../../../infra/functions/bundles.ts'
import { LEFT_OUT_FILES, REPLACED_FILES } from '../../../infra/functions/left-out.ts'
import { functionIds } from '../../../infra/stacks/deployment.ts'
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
  expect(idsWith('credential-provider-')).toEqual([])
  expect(idsWith('sdk-environment')).toEqual(idsWith('@aws-sdk/'))
  const ofPhones = ['create-patient', 'update-patient', 'send-message', 'sms-receipts', 'run-maintenance']
  expect(idsWith('libphonenumber')).toEqual(ofPhones)
  expect(idsWith('client-sesv2')).toEqual(['send-email'])
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

it('finds every file of packages that it replaces or leaves out', () => {
  const files = [...Object.keys(REPLACED_FILES), ...LEFT_OUT_FILES].map((path) => `node_modules/${path}`)
  expect(files.filter((path) => inputs[path] === undefined)).toEqual([])
})

/** The value of an expression with zod, in a bundle. */
async function bundledValue(name: string, expression: string): Promise<unknown> {
  const file = join(folder, `${name}.ts`)
  writeFileSync(
    file,
    `import * as z from '${resolve('node_modules/zod/index.js')}'; export const value = ${expression}`,
  )
  await bundle({ [name]: file }, folder)
  return createRequire(file)(`./${name}.js`).value
}

it('copies no schema to register metadata', async () => {
  const isSame = '((text) => text.meta({ id: "Text" }) === text)(z.string())'
  expect(await bundledValue('metadata', isSame)).toBe(true)
})

it('names the file when a function calls what was left out', async () => {
  await expect(bundledValue('call', 'z.string().toJSONSchema()')).rejects.toThrow(
    'zod/v4/core/to-json-schema.js is left out of bundles.',
  )
})
