import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { startEngineProcess } from '../../../../infra/local/engines/engine-process.ts'
import { enginePid } from './started-engine.ts'

const directory = () => mkdtempSync(join(inject('runFolder'), 'engine-'))

describe('an engine', () => {
  it('starts on another port when another process takes the first one', async () => {
    const started = join(directory(), 'started')
    const script = `
      const { existsSync, writeFileSync } = require('node:fs')
      if (!existsSync('${started}')) { writeFileSync('${started}', ''); throw new Error('address in use') }
      require('node:http').createServer((_q, s) => s.end()).listen(process.argv[1], '127.0.0.1')`
    const engine = await startEngineProcess({
      name: 'The engine',
      binary: process.execPath,
      args: (port) => ['-e', script, String(port)],
      onUnexpectedExit: () => {},
    })
    expect(existsSync(started)).toBe(true)
    await engine.stop()
    await expect(fetch(engine.endpoint)).rejects.toThrow()
  })

  it.each([
    [
      'the program exits',
      process.execPath,
      ['-e', 'console.error("no room\\non the disk"); process.exit(1)'],
      /did not start: no room\non the disk/,
    ],
    ['the program does not exist', '/nowhere/engine', [], /did not start: .*ENOENT/],
  ])('throws an error with the reason when %s', async (_what, binary, args, message) => {
    const options = { name: 'The engine', binary, args: () => args, onUnexpectedExit: () => {} }
    await expect(startEngineProcess(options)).rejects.toThrow(message)
  })
})

describe('the DynamoDB engine ends with the process that started it', () => {
  const source = join(import.meta.dirname, '..', '..', '..', '..', 'infra', 'local', 'engines', 'dynamodb.ts')

  it.each([
    ['ended by a signal', 'SIGTERM'],
    ['killed with SIGKILL', 'SIGKILL'],
    ['crashed', 'SIGUSR2'],
  ] as const)('%s', async (_what, signal) => {
    const script = join(directory(), 'start.mjs')
    writeFileSync(
      script,
      `import { startDynamoDb } from ${JSON.stringify(source)}
process.once('SIGUSR2', () => { throw new Error('crash') })
const { endpoint } = await startDynamoDb({ onUnexpectedExit: () => {} })
process.stdout.write(endpoint)
setInterval(() => {}, 1000)`,
    )
    const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'ignore'] })
    const [endpoint] = await once(child.stdout, 'data')
    const ended = once(child, 'exit')
    expect(enginePid(String(endpoint))).toBeGreaterThan(0)
    child.kill(signal)
    expect((await ended)[1]).toBe(signal === 'SIGUSR2' ? null : signal)
    await expect.poll(() => enginePid(String(endpoint))).toBeUndefined()
  })
})
