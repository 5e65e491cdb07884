import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { bundleFunctions } from '../../infra/bundles.ts'

const folder = mkdtempSync(join(tmpdir(), 'bundles-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

const IDS = ['create-patient', 'deliver-event', 'get-patient', 'list-patients', 'send-email', 'send-message']

/** The packages and modules in each bundle. */
function bundled(): Map<string, string[]> {
  const { metafile } = bundleFunctions(IDS, folder)
  return new Map(
    Object.values(metafile.outputs).map(({ entryPoint = '', inputs }) => [
      entryPoint.replace(/^functions\/|\.ts$/g, ''),
      Object.entries(inputs)
        .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
        .map(([path]) => path),
    ]),
  )
}

it('leaves out what a function does not need', () => {
  const inputs = bundled()
  const idsWith = (part: string) => IDS.filter((id) => inputs.get(id)?.some((path) => path.includes(part)))
  // Lambda passes credentials in the environment.
  expect(idsWith('credential-provider-')).toEqual([])
  expect(idsWith('environment-credentials')).toEqual(IDS)
  expect(idsWith('libphonenumber')).toEqual(['create-patient', 'send-message'])
  expect(idsWith('client-sesv2')).toEqual(['send-email'])
})
