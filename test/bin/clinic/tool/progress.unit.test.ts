import { Command } from 'commander'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { progressBar } from '../../../../bin/clinic/tool/progress.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

it('a long command prints every ten seconds how far it is, at most 100 %', () => {
  const written: string[] = []
  const command = new Command().configureOutput({ writeErr: (text) => written.push(text) })
  const bar = progressBar(command, 'export', 2000)
  for (const rows of [1, 1000, 1500, 3000]) {
    vi.advanceTimersByTime(5000)
    bar.show(rows)
  }
  expect(written).toEqual(['export 50 %  1,000 rows\n', 'export 100 %  3,000 rows\n'])
})
