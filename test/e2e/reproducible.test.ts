import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { LOCAL_SETTINGS } from '../../infra/local/settings.ts'

type Output = { templates: Record<string, string>; assets: string[] }

/** Synthesizes as the CDK CLI does, into a temporary folder. */
function synthesized(more: object, folder = 'synth-'): Output {
  const outdir = mkdtempSync(join(inject('runFolder'), folder))
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8')) as { context: object }
  const CDK_CONTEXT_JSON = JSON.stringify({ ...context, ...more })
  const env = { ...process.env, CDK_OUTDIR: outdir, CDK_CONTEXT_JSON }
  execFileSync(process.execPath, ['bin/app.ts'], { env, stdio: 'pipe' })
  const names = readdirSync(outdir).sort()
  const templates = names.filter((name) => name.endsWith('.template.json'))
  return {
    templates: Object.fromEntries(
      templates.map((name) => [name.replace('.template.json', ''), readFileSync(join(outdir, name), 'utf8')]),
    ),
    assets: names.filter((name) => name.startsWith('asset.')),
  }
}

it('synthesizes the same template and asset hashes in any folder, without SMS receipts by default', () => {
  const first = synthesized({ stage: 'dev', ...LOCAL_SETTINGS })
  expect(first.assets.length).toBeGreaterThan(1)
  expect(Object.keys(first.templates).sort()).toEqual([
    'ClinicDeveloperApi-dev',
    'ClinicDeveloperApi-dev-Data',
    'ClinicDeveloperApi-dev-Monitoring',
    'ClinicDeveloperApi-dev-Workers',
  ])
  expect(synthesized({ smsReceipts: 'off', ...LOCAL_SETTINGS }, 'of-another-length-')).toEqual(first)
})
