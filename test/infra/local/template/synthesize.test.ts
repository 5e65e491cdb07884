import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { readAssembly } from '../../../../infra/local/template/synthesize.ts'

const API = { Api: { Type: 'AWS::ApiGateway::RestApi' } }
const QUEUE = { Queue: { Type: 'AWS::SQS::Queue' } }

/** A directory as `cdk synth` leaves it: stacks with their resources, each with one asset, named after it. */
function assembly(stacks: Record<string, object>): string {
  const directory = mkdtempSync(join(inject('runFolder'), 'assembly-'))
  const write = (file: string, content: object) =>
    writeFileSync(join(directory, file), JSON.stringify(content))
  const artifacts: Record<string, object> = { Tree: { type: 'cdk:tree', properties: { file: 'tree.json' } } }
  for (const [name, Resources] of Object.entries(stacks)) {
    write(`${name}.template.json`, { Resources })
    write(`${name}.assets.json`, { files: { [`hash-${name}`]: { source: { path: `asset.${name}` } } } })
    artifacts[name] = {
      type: 'aws:cloudformation:stack',
      properties: { templateFile: `${name}.template.json` },
    }
    artifacts[`${name}.assets`] = { type: 'cdk:asset-manifest', properties: { file: `${name}.assets.json` } }
  }
  write('manifest.json', { artifacts })
  return directory
}

it('reads the stack with the API and the other stacks', async () => {
  const directory = assembly({ Receipts: QUEUE, Main: API })
  const { stackName, template, otherStacks: others, assetDirectory } = await readAssembly(directory)
  expect([stackName, template.Resources]).toEqual(['Main', API])
  expect(others).toEqual([{ stackName: 'Receipts', template: { Resources: QUEUE } }])
  expect(assetDirectory('hash-Receipts.zip')).toBe(join(directory, 'asset.Receipts'))
  expect(() => assetDirectory('other.zip')).toThrow(/other\.zip/)
})

it('reads an app with a single stack', async () => {
  expect((await readAssembly(assembly({ Main: API }))).otherStacks).toEqual([])
})

it.each([
  ['none', { One: QUEUE, Two: QUEUE }, /^0 of the app's stacks \(One, Two\) have a REST API/],
  ['two', { One: API, Two: API, Three: QUEUE }, /^2 of the app's stacks \(One, Two, Three\) have a REST API/],
])('throws an error for an app with %s of them', async (_what, stacks, message) => {
  await expect(readAssembly(assembly(stacks))).rejects.toThrow(message)
})
