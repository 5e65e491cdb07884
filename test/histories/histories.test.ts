/**
 * Random histories of two clinics: operations of every endpoint and of the operator, several at a time, on an engine that
 * conflicts and fails, in processes that crash. `SEED=...` runs the history of one seed; `FIRST_SEED` and `HISTORIES` choose
 * others.
 */
import { expect, inject, it, onTestFinished, vi } from 'vitest'
import { rounds } from '../support/scale.ts'
import { formatReport, runCampaign } from './campaign.ts'
import { type OpenClient, openLocalStage } from './local-stage.ts'
import { fakeTransport, replaceProviderClients } from './providers.ts'

vi.mock(import('../../shared/runtime/document-client.ts'), async (original) => {
  const { taskClient } = await import('./task.ts')
  const { documentClient } = await original()
  // Functions open their client without settings; the campaign opens those that reach the table.
  return { documentClient: (config) => (config ? documentClient(config) : taskClient) }
})
vi.mock(import('../../shared/runtime/system.ts'), async (original) => ({
  ...(await original()),
  now: (await import('./task.ts')).taskNow,
}))
vi.mock(import('../../shared/observability/log.ts'), async (original) => ({
  ...(await original()),
  logToStdout: (await import('./task.ts')).recordLogLine,
}))
vi.mock(import('../../shared/delivery/webhooks/webhook-transport.ts'), async (original) => ({
  ...(await original()),
  webhookTransport: fakeTransport as never,
}))

/** A history takes about half a second of one core, a third of it in the engine. */
const TIMEOUT_MS = process.env.HISTORIES ? 6 * 3_600_000 : rounds(120_000, 6 * 3_600_000)

it(
  'loses, doubles and leaks nothing in histories with conflicts, faults and crashes',
  async () => {
    onTestFinished(replaceProviderClients())
    const { documentClient } = await import('../../shared/runtime/document-client.ts')
    const openStage = () => openLocalStage(inject('dynamodb'), documentClient as OpenClient)
    const { SEED, FIRST_SEED = '1', HISTORIES = String(rounds(6, 9800)) } = process.env
    const count = SEED === undefined ? Number(HISTORIES) : 1
    const report = await runCampaign(openStage, Number(SEED ?? FIRST_SEED), count)
    process.stdout.write(`${formatReport(report)}\n`)
    expect(report.failures).toEqual([])
  },
  TIMEOUT_MS,
)
