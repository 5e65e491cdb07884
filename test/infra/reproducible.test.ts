import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** Synthesizes as the CDK CLI does, into a folder of its own. */
function synthesized(): { template: string; assets: string[] } {
  const outdir = mkdtempSync(join(tmpdir(), 'synth-'))
  try {
    const { context } = JSON.parse(readFileSync('cdk.json', 'utf8')) as { context: object }
    const env = { ...process.env, CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: JSON.stringify(context) }
    execFileSync(process.execPath, ['bin/app.ts'], { env, stdio: 'pipe' })
    const names = readdirSync(outdir)
    const template = names.find((name) => name.endsWith('.template.json')) ?? ''
    return {
      template: readFileSync(join(outdir, template), 'utf8'),
      assets: names.filter((name) => name.startsWith('asset.')).sort(),
    }
  } finally {
    rmSync(outdir, { recursive: true })
  }
}

it('gives the same template and asset hashes, wherever and however often it is synthesized', () => {
  const first = synthesized()
  expect(first.assets.length).toBeGreaterThan(1)
  expect(synthesized()).toEqual(first)
})
