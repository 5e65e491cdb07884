import { expect, it } from 'vitest'
import { formatTime, overlaps, parseTime } from '../../../shared/domain/interval.ts'

it.each([
  ['adjoining before', { from: 500, to: 540 }, false],
  ['overlapping by the first minute', { from: 500, to: 541 }, true],
  ['within', { from: 550, to: 560 }, true],
  ['equal', { from: 540, to: 570 }, true],
  ['around', { from: 0, to: 1440 }, true],
  ['overlapping by the last minute', { from: 569, to: 600 }, true],
  ['adjoining after', { from: 570, to: 600 }, false],
  ['a zero-length interval at the start', { from: 540, to: 540 }, false],
])('an interval %s overlaps 09:00-09:30: %s', (_, other, expected) => {
  const interval = { from: 540, to: 570 }
  expect(overlaps(interval, other)).toBe(expected)
  expect(overlaps(other, interval)).toBe(expected)
})

it.each([
  ['00:00', 0],
  ['00:09', 9],
  ['09:30', 570],
  ['10:00', 600],
  ['23:59', 1439],
])('converts %s to %i minutes and back', (text, minutes) => {
  expect(parseTime(text)).toBe(minutes)
  expect(formatTime(minutes)).toBe(text)
})
