import { mkdtempSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join, resolve } from 'node:path'
import { expect, inject, it } from 'vitest'
import { bundle, bundleFunctions } from '../../../infra/functions/bundles.ts'
import { LEFT_OUT_FILES, REPLACED_FILES } from '../../../infra/functions/left-out.ts'

const folder = mkdtempSync(join(inject('runFolder'), 'bundles-test-'))

const IDS = ['create-patient', 'deliver-event', 'get-patient', 'list-patients', 'send-email', 'send-message']

const { inputs, outputs } = await bundleFunctions(IDS, folder)

it('leaves out what a function does not need', () => {
  const bundled = new Map(
    Object.values(outputs).map(({ entryPoint = '', inputs }) => [
      basename(entryPoint, '.ts'),
      Object.entries(inputs)
        .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
        .map(([path]) => path),
    ]),
  )
  const idsWith = (part: string) => IDS.filter((id) => bundled.get(id)?.some((path) => path.includes(part)))
  // Lambda passes credentials in the environment.
  expect(idsWith('credential-provider-')).toEqual([])
  expect(idsWith('sdk-environment')).toEqual(IDS)
  expect(idsWith('libphonenumber')).toEqual(['create-patient', 'send-message'])
  // Its first use takes as long as the rest of a request.
  expect(idsWith('temporal-polyfill')).toEqual([])
  expect(idsWith('client-sesv2')).toEqual(['send-email'])
})

it('finds every file of packages that it replaces or leaves out', () => {
  const files = [...Object.keys(REPLACED_FILES), ...LEFT_OUT_FILES].map((path) => `node_modules/${path}`)
  expect(files.filter((path) => inputs[path] === undefined)).toEqual([])
})

it('names the file when a function calls what was left out', async () => {
  const file = join(folder, 'call.ts')
  writeFileSync(
    file,
    `import * as z from '${resolve('node_modules/zod/index.js')}'; z.string().toJSONSchema()`,
  )
  await bundle({ call: file }, folder)
  const load = () => createRequire(file)('./call.js')
  expect(load).toThrow('zod/v4/core/to-json-schema.js is left out of bundles.')
})
