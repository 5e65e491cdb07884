import { beforeEach, describe, expect, it, vi } from 'vitest'
import { sweepWorker } from '../../../shared/runtime/sweep.ts'
import { lambdaContext } from '../../support/event.ts'
import { stubFunctionEnvironment } from '../../support/functions.ts'

beforeEach(() => stubFunctionEnvironment('clinic-table'))

const ALL = Array.from({ length: 16 }, (_, n) => `p${n}`)
const definition = { id: 'sweeper', trigger: { type: 'schedule' } } as const

/** The partitions that one invocation gets. */
async function partitionsFor(event: unknown): Promise<string[]> {
  let found: string[] = []
  const handler = sweepWorker(definition, {}, async (_, { partitionsOf }) => {
    found = partitionsOf(ALL)
  })
  await handler(event, lambdaContext())
  return found
}

describe('sweepWorker', () => {
  it.each([
    [{ part: 4, parts: 4 }],
    [{ part: -1, parts: 4 }],
    [{ part: 1 }],
    [{ parts: 0 }],
    [{ part: '0' }],
  ])('fails when it is invoked with %j', async (event) => {
    vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    await expect(partitionsFor(event)).rejects.toThrow('sweeper failed')
    vi.restoreAllMocks()
  })

  it('records the lag as a metric of the sweep, in milliseconds', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    await sweepWorker(definition, {}, async (_, { reportLag }) => reportLag(1500))({}, lambdaContext())
    const lines = write.mock.calls.map(([line]) => JSON.parse(String(line)))
    vi.restoreAllMocks()
    const Metrics = [{ Name: 'sweep_lag_ms', Unit: 'Milliseconds' }]
    expect(lines).toMatchObject([
      {
        _aws: { CloudWatchMetrics: [{ Dimensions: [['stage'], ['stage', 'sweep']], Metrics }] },
        sweep: 'sweeper',
        sweep_lag_ms: 1500,
      },
    ])
  })
})
