/** The guides, run as they stand: every block of every guide against the running stack. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningStack, runStack } from '../support/local-stack.ts'

/** In the project, where the client is found. */
const FOLDER = join('.local', `guides-${process.pid}`)
const GUIDES = globSync('docs/guides/*.md').sort()

let stack: RunningStack
let environment: NodeJS.ProcessEnv

beforeAll(async () => {
  const receiver = `127.0.0.1:${await freePort()}`
  stack = await runStack({ allowedWebhookHost: receiver })
  environment = {
    ...process.env,
    API: stack.api,
    PAIR: stack.clinics[0]?.credentials.full,
    RECEIVER: receiver,
  }
  mkdirSync(FOLDER, { recursive: true })
}, 60_000)
afterAll(async () => {
  rmSync(FOLDER, { recursive: true, force: true })
  await stack?.close()
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

const blocksOf = (guide: string, language: string): string[] =>
  [...readFileSync(guide, 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, of, text]) =>
    of === language ? [text ?? ''] : [],
  )

async function run(command: string, ...args: string[]): Promise<string> {
  const child = spawn(command, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      said += text
    })
  const [code] = await once(child, 'close')
  expect(`${code} ${said}`).toMatch(/^0 /)
  return said
}

describe.each(GUIDES.map((guide) => [basename(guide), guide] as const))('%s', (name, guide) => {
  const shell = blocksOf(guide, 'sh')
  const typescript = blocksOf(guide, 'ts')

  if (shell.length > 0)
    it('its commands work', async () => {
      await run('bash', '-euo', 'pipefail', '-c', shell.join('\n'))
    })

  if (typescript.length > 0)
    it('its program works', async () => {
      const file = join(FOLDER, name.replace('.md', '.ts'))
      writeFileSync(file, typescript.join('\n'))
      await run(process.execPath, file)
    })

  it('links to files that are there', () => {
    const links = [...readFileSync(guide, 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g)].map(
      ([, to]) => to ?? '',
    )
    for (const link of links) expect(() => readFileSync(join('docs/guides', link))).not.toThrow()
  })
})

it('shows the verifier as it is', () => {
  const verifier = readFileSync('bin/clinic/webhook-verification.ts', 'utf8').trim()
  expect(blocksOf('docs/webhooks.md', 'ts').map((block) => block.trim())).toContain(verifier)
})
