import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { type Mechanism, spawnEndingWithParent } from '../../../../infra/local/process/end-with-parent.ts'

const directory = mkdtempSync(join(inject('runFolder'), 'end-with-parent-'))

const source = join(
  import.meta.dirname,
  '..',
  '..',
  '..',
  '..',
  'infra',
  'local',
  'process',
  'end-with-parent.ts',
)

/** Process ids of the running programs that have this argument. */
const running = (argument: string): number[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(argument) && !line.includes('end-with-parent-'))
    .map((line) => Number.parseInt(line, 10))

const mechanisms: Mechanism[] = process.platform === 'linux' ? ['kernel', 'shell'] : ['shell']

describe.each(mechanisms)('spawnEndingWithParent by %s', (mechanism) => {
  const sleepSeconds = mechanism === 'kernel' ? '98701' : '98702'

  it('leaves no process behind when the parent is killed with SIGKILL', async () => {
    const script = join(directory, `${mechanism}.mjs`)
    writeFileSync(
      script,
      `import { spawnEndingWithParent } from ${JSON.stringify(source)}
const stdio = ['ignore', 'ignore', 'pipe']
const child = spawnEndingWithParent('sleep', ['${sleepSeconds}'], { stdio, detached: true }, '${mechanism}')
process.stdout.write(String(child.pid))
setInterval(() => {}, 1000)`,
    )
    const parent = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [pid] = await once(parent.stdout, 'data')
    await expect.poll(() => running(`sleep ${sleepSeconds}`)).toContain(Number(pid))
    parent.kill('SIGKILL')
    await once(parent, 'exit')
    await expect.poll(() => running(sleepSeconds)).toEqual([])
  })

  it('passes signals and the exit code of the child on, and leaves no process behind when the child ends', async () => {
    const start = (...args: [string, string[]]) =>
      spawnEndingWithParent(...args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true }, mechanism)
    expect(await once(start('sh', ['-c', 'exit 3']), 'exit')).toEqual([3, null])
    const child = start('sleep', [`${sleepSeconds}0`])
    await expect.poll(() => running(`sleep ${sleepSeconds}0`)).toContain(child.pid)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([null, 'SIGTERM'])
    await expect.poll(() => running(`${sleepSeconds}0`)).toEqual([])
  })
})
