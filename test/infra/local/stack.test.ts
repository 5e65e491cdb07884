import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type LocalStackOptions, startLocalStack } from '../../../infra/local/stack.ts'
import { post, runStack } from '../../support/local-stack.ts'
import { sharedAssembly } from '../../support/shared-assembly.ts'
import { enginePid } from './engines/started-engine.ts'

it('a stack without a domain has the stage in its address, in locations and in the server of its document', async () => {
  const below = await runStack({ domain: false })
  onTestFinished(() => below.close())
  const { baseUrl, outputs, clinics } = below
  expect(outputs.BaseUrl).toBe(`${baseUrl}/dev`)
  const created = await fetch(`${baseUrl}/dev/api/developer/v1/patients`, {
    method: 'POST',
    headers: {
      authorization: `Developer ${clinics[0]?.credentials.full}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ first_name: 'Ada', last_name: 'Kaya' }),
  })
  const location = created.headers.get('location')
  expect([created.status, location]).toEqual([
    201,
    expect.stringMatching(/^\/dev\/api\/developer\/v1\/patients\//),
  ])
  const read = await fetch(`${baseUrl}${location}`, {
    headers: { authorization: `Developer ${clinics[0]?.credentials.full}` },
  })
  expect(read.status).toBe(200)
  const document = (await (await fetch(`${baseUrl}/dev/openapi.json`)).json()) as { servers: object[] }
  expect(document.servers).toMatchObject([{ url: '/dev/api/developer/v1' }])
  const outside = await fetch(`${baseUrl}/api/developer/v1/patients`)
  expect([outside.status, await outside.json()]).toEqual([403, { message: 'Forbidden' }])
})

it('a burst of requests is served, up to the number of requests that may wait', async () => {
  const busy = await runStack({ limits: { waiting: 80 } })
  onTestFinished(() => busy.close())
  const burst = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () => post(busy, '/patients', { first_name: 'Ada', last_name: 'Kaya' })),
    )
  expect(new Set((await burst(64)).map(({ status }) => status))).toEqual(new Set([201]))
  const responses = await burst(160)
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([201, 429]))
  const rejected = responses.find(({ status }) => status === 429)
  expect(rejected?.headers['retry-after']).toBe('1')
})

describe('a closed stack', () => {
  it('leaves no process, port or file behind', async () => {
    const other = await startLocalStack({ port: 0, synthesize: sharedAssembly })
    const pid = enginePid(other.endpoints.dynamodb)
    expect(pid).toBeGreaterThan(0)
    await fetch(`${other.baseUrl}/api/developer/v1/patients`)
    const startedAt = performance.now()
    await Promise.all([other.close(), other.close()])
    expect(performance.now() - startedAt).toBeLessThan(2000)
    expect(enginePid(other.endpoints.dynamodb)).toBeUndefined()
    for (const url of [other.baseUrl, ...Object.values(other.endpoints)])
      await expect(fetch(url)).rejects.toThrow()
  })

  it('leaves nothing behind either when it did not start', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'start-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    onTestFinished(() => void vi.unstubAllEnvs())
    vi.stubEnv('TMPDIR', directory)
    await expect(startLocalStack({ port: 0, stage: 'nowhere' })).rejects.toThrow(/Unknown stage "nowhere"/)
    expect(readdirSync(directory)).toEqual([])

    let engine = ''
    const seed: LocalStackOptions['seed'] = async ({ endpoints, outputs }) => {
      expect(outputs.TableName).toBeTruthy()
      engine = endpoints.dynamodb
      throw new Error('no seed')
    }
    await expect(startLocalStack({ port: 0, seed })).rejects.toThrow(/no seed/)
    expect(engine).not.toBe('')
    expect(enginePid(engine)).toBeUndefined()
    expect(readdirSync(directory)).toEqual([])
  })
})
