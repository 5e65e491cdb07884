import { expect, it } from 'vitest'
import { keepSections, replaceSection } from '../../../bin/bench/report.ts'

const report = (...titles: string[]): string =>
  ['# Benchmarks\n', ...titles.map((title) => `## ${title}\n\n${title} $& text\n`)].join('\n')
const contention = '## Contention\n\nContention $& text\n'
const fleet = '## Ten thousand clinics\n\nTen thousand clinics $& text\n'

it('puts sections that are measured apart before the bundles, in their order', () => {
  const withFleet = replaceSection(report('Messages', 'Bundles'), fleet)
  expect(withFleet).toBe(report('Messages', 'Ten thousand clinics', 'Bundles'))
  const withBoth = replaceSection(withFleet, contention)
  expect(withBoth).toBe(report('Messages', 'Contention', 'Ten thousand clinics', 'Bundles'))
  expect(replaceSection(withBoth, fleet)).toBe(withBoth)
  expect(replaceSection(withBoth, contention)).toBe(withBoth)
})

it('keeps these sections in a new report', () => {
  const previous = report('Messages', 'Contention', 'Ten thousand clinics', 'Bundles')
  expect(keepSections(report('Messages', 'Bundles'), previous)).toBe(previous)
  expect(keepSections(report('Messages', 'Bundles'), report('Bundles'))).toBe(report('Messages', 'Bundles'))
})
