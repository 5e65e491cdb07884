import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { LOCAL_SETTINGS } from '../../infra/local/settings.ts'
import { sharedAssemblyFolder } from '../support/shared-assembly.ts'

type Output = { templates: Record<string, string>; assets: string[] }

/** Synthesizes as the CDK CLI does, into a temporary folder. `bundles` may come from an earlier synthesis. */
function synthesized(more: object, bundles: { KEPT_BUNDLES?: string } = {}): Output {
  const outdir = mkdtempSync(join(inject('runFolder'), 'synth-'))
  const { context } = JSON.parse(readFileSync('cdk.json', 'utf8')) as { context: object }
  const CDK_CONTEXT_JSON = JSON.stringify({ ...context, ...more })
  const env = { ...process.env, CDK_OUTDIR: outdir, CDK_CONTEXT_JSON, KEPT_BUNDLES: '', ...bundles }
  execFileSync(process.execPath, ['bin/app.ts'], { env, stdio: 'pipe' })
  return readOutput(outdir)
}

function readOutput(outdir: string): Output {
  const names = readdirSync(outdir).sort()
  const templates = names.filter((name) => name.endsWith('.template.json'))
  return {
    templates: Object.fromEntries(
      templates.map((name) => [name.replace('.template.json', ''), readFileSync(join(outdir, name), 'utf8')]),
    ),
    assets: names.filter((name) => name.startsWith('asset.')),
  }
}

it('synthesizes the same template and asset hashes in any folder, without SMS receipts by default', async () => {
  const first = readOutput(await sharedAssemblyFolder({ stage: 'dev', ...LOCAL_SETTINGS }))
  expect(first.assets.length).toBeGreaterThan(1)
  expect(Object.keys(first.templates).sort()).toEqual([
    'ClinicDeveloperApi-dev',
    'ClinicDeveloperApi-dev-Data',
    'ClinicDeveloperApi-dev-Monitoring',
    'ClinicDeveloperApi-dev-Workers',
  ])
  expect(synthesized({ smsReceipts: 'off', ...LOCAL_SETTINGS })).toEqual(first)
})

it('synthesizes the stack of SMS receipts and the sender names only when the context sets them', () => {
  const { KEPT_BUNDLES } = process.env
  const settings = { emailFrom: 'mail@praxis-nord.de', smsSenderId: 'PraxisNord' }
  const { templates } = synthesized({ stage: 'dev', smsReceipts: 'on', ...settings }, { KEPT_BUNDLES })
  expect(Object.keys(templates).sort()).toEqual([
    'ClinicDeveloperApi-SmsReceipts',
    'ClinicDeveloperApi-dev',
    'ClinicDeveloperApi-dev-Data',
    'ClinicDeveloperApi-dev-Monitoring',
    'ClinicDeveloperApi-dev-Workers',
  ])
  expect(templates['ClinicDeveloperApi-dev-Workers']).toContain('"EMAIL_FROM":"mail@praxis-nord.de"')
  expect(templates['ClinicDeveloperApi-dev']).toContain('"SMS_SENDER_ID":"PraxisNord"')
})
