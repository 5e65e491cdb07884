import { expect, it } from 'vitest'
import { keepSections, replaceSection } from '../../../bin/bench/report.ts'

const report = (...titles: string[]): string =>
  ['# Benchmarks\n', ...titles.map((title) => `## ${title}\n\n${title} $& text\n`)].join('\n')
const contention = '## Contention\n\nContention $& text\n'
const verification = '## Verification\n\nVerification $& text\n'

it('puts sections that are measured apart before the bundles, in their order', () => {
  const withOne = replaceSection(report('Messages', 'Bundles'), verification)
  expect(withOne).toBe(report('Messages', 'Verification', 'Bundles'))
  const withBoth = replaceSection(withOne, contention)
  expect(withBoth).toBe(report('Messages', 'Contention', 'Verification', 'Bundles'))
  expect(replaceSection(withBoth, verification)).toBe(withBoth)
  expect(replaceSection(withBoth, contention)).toBe(withBoth)
})

it('keeps these sections in a new report', () => {
  const previous = report('Messages', 'Contention', 'Verification', 'Bundles')
  expect(keepSections(report('Messages', 'Bundles'), previous)).toBe(previous)
  expect(keepSections(report('Messages', 'Bundles'), report('Bundles'))).toBe(report('Messages', 'Bundles'))
})
