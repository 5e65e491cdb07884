/**
 * Random histories over HTTP: the synthesized stack on an engine that conflicts and fails, with threads of functions that
 * are killed and started again. `SEED=...` runs the history of one seed; `FIRST_SEED` and `HTTP_HISTORIES` choose others.
 */
import { expect, it } from 'vitest'
import { rounds } from '../support/scale.ts'
import { formatReport, runCampaign } from './campaign.ts'
import { openHttpStage } from './http-stage.ts'

const { SEED, FIRST_SEED = '1', HTTP_HISTORIES = String(rounds(1, 200)) } = process.env
/** A history takes about five seconds of one core, the first of a stack ten. */
const TIMEOUT_MS = process.env.HTTP_HISTORIES ? 6 * 3_600_000 : rounds(120_000, 6 * 3_600_000)

it(
  'loses, doubles and leaks nothing over HTTP with conflicts, faults and killed functions',
  async () => {
    const print = (line: string) => process.stdout.write(`${line}\n`)
    const report = await runCampaign(openHttpStage, {
      firstSeed: Number(SEED ?? FIRST_SEED),
      histories: SEED === undefined ? Number(HTTP_HISTORIES) : 1,
      lanes: 1,
      progressStep: 10,
      onProgress: print,
    })
    print(formatReport(report))
    expect(report.failures).toEqual([])
  },
  TIMEOUT_MS,
)
