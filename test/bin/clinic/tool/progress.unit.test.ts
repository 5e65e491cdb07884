/** The progress that a long command prints. */
import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { progressBar, progressText } from '../../../../bin/clinic/tool/progress.ts'

const SECOND_MS = 1000

describe('the progress of a long command', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('has no estimate before anything was read', () => {
    expect(progressText('export', 0, 0, 20)).toBe(`export ${'░'.repeat(24)} 0 %  0 rows`)
    expect(progressText('export', 0.5, 100, 20)).toMatch(/ 50 % {2}100 rows {2}5\/s {2}20 s left$/)
  })

  it('counts the rate and the time left without the time that the command waited first', () => {
    const written: string[] = []
    const command = new Command().configureOutput({ writeErr: (text) => written.push(text) })
    const bar = progressBar(command, 'export', 100)
    bar.printLine('waiting')
    vi.advanceTimersByTime(20 * SECOND_MS)
    bar.restartClock()
    bar.show({ bytes: 1, rows: 1 })
    vi.advanceTimersByTime(10 * SECOND_MS)
    bar.show({ bytes: 50, rows: 50 })
    expect(written).toEqual(['waiting\n', expect.stringMatching(/ 50 % {2}50 rows {2}5\/s {2}10 s left\n$/)])
  })
})
