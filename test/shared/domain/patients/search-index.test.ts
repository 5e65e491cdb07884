import { describe, expect, it } from 'vitest'
import { SEGMENT_SIZE, SearchIndex, SearchSegment } from '../../../../shared/domain/patients/search-index.ts'
import { type Needles, searchLine } from '../../../../shared/domain/patients/search-text.ts'

const words = (...list: string[]): Needles => ({ kind: 'words', words: list })
const digits = (text: string): Needles => ({ kind: 'phone', digits: text })

const PEOPLE = [
  searchLine('Ada Kaya', '+905321234567', 'ada@example.com'),
  searchLine('Bo Lind', '+4930123456', null),
  searchLine('Cem Kaya', null, 'kaya532@example.com'),
  searchLine('Ada Lind', '+905329999999', null),
]

describe('SearchSegment', () => {
  const segment = new SearchSegment(PEOPLE)

  it('returns its lines, their number and their size with line ends', () => {
    expect(segment.lines()).toEqual(PEOPLE)
    expect(segment.count).toBe(4)
    expect(segment.size).toBe(PEOPLE.join('\n').length + 1)
  })

  it('is empty without lines', () => {
    const empty = new SearchSegment()
    expect([empty.lines(), empty.count, empty.size]).toEqual([[], 0, 0])
    expect(empty.matches(words('ada'))).toEqual([])
  })

  it('keeps a single empty line', () => {
    expect(new SearchSegment(['']).lines()).toEqual([''])
    expect(new SearchSegment(['', 'a', '']).matches(words('a'))).toEqual([1])
  })

  it.each<[string, Needles, number[]]>([
    ['a word on the first line', words('ada k'), [0]],
    ['a word on the last line', words('ada l'), [3]],
    ['a word on several lines', words('ada'), [0, 3]],
    ['a word on all lines, several times each', words('a'), [0, 2, 3]],
    ['a word in names and emails', words('kaya'), [0, 2]],
    ['several words on the same line', words('ada', 'kaya'), [0]],
    ['several words, the first of which is longest', words('kaya', 'cem'), [2]],
    ['words on different lines only', words('bo', 'kaya'), []],
    ['words on a line and at the start of the next', words('lind', 'c'), []],
    ['a word that does not occur', words('zoe'), []],
    ['digits of phone numbers, but not of emails', digits('532'), [0, 3]],
    ['the last digits of a number', digits('456'), [0, 1]],
    ['digits that do not occur', digits('000'), []],
  ])('matches %s', (_, needles, ordinals) => {
    expect(segment.matches(needles)).toEqual(ordinals)
  })

  it.each<[string, Needles, number[]]>([
    ['a word in two parts', words('王小明'), [0, 2]],
    ['a word in two parts and another word', words('王小明', 'x'), [2]],
    ['a single character', words('明'), [0, 1, 2]],
  ])('matches %s of a script without spaces', (_, needles, ordinals) => {
    const lines = ['小明 王\t\t', '明 王\t\t小', '王小明\t\tx@example.com', '小 王\t\t']
    expect(new SearchSegment(lines).matches(needles)).toEqual(ordinals)
  })

  it('finds the line of every match among many', () => {
    const lines = Array.from({ length: 100 }, (_, index) => `name ${index}x\t\t`)
    const many = new SearchSegment(lines)
    for (const index of lines.keys()) {
      expect(many.matches(words(` ${index}x`))).toEqual([index])
      expect(many.matches(words(`name ${index}x\t\t`, 'x'))).toEqual([index])
    }
    expect(many.matches(words('name'))).toEqual([...lines.keys()])
  })

  it('replaces and appends lines', () => {
    const changed = new SearchSegment(PEOPLE.slice(0, 2))
    changed.patch(
      new Map([
        [0, 'eda demir\t\t'],
        [2, 'new\t\t'],
      ]),
    )
    expect(changed.lines()).toEqual(['eda demir\t\t', PEOPLE[1], 'new\t\t'])
    expect(changed.matches(words('demir'))).toEqual([0])
    expect(changed.matches(words('new'))).toEqual([2])
    expect(changed.count).toBe(3)
  })
})

describe('SearchIndex', () => {
  /** Three segments with a `match` at each of some ordinals. */
  const COUNT = 2 * SEGMENT_SIZE + 5
  const indexWith = (matches: readonly number[]): SearchIndex => {
    const lines = Array.from({ length: COUNT }, (_, ordinal) => (matches.includes(ordinal) ? 'match' : 'x'))
    const segments = [0, 1, 2].map(
      (index) => new SearchSegment(lines.slice(index * SEGMENT_SIZE, (index + 1) * SEGMENT_SIZE)),
    )
    return new SearchIndex(segments, COUNT, 0)
  }
  const ORDINALS = [3, 7, SEGMENT_SIZE - 1, SEGMENT_SIZE, SEGMENT_SIZE + 9, 2 * SEGMENT_SIZE + 4]
  const NEWEST_FIRST = [...ORDINALS].reverse()

  it('returns every page of the matches, most recently created first, with the total', () => {
    const index = indexWith(ORDINALS)
    for (let offset = 0; offset <= ORDINALS.length + 1; offset++) {
      for (let limit = 1; limit <= ORDINALS.length + 1; limit++) {
        expect(index.find(words('match'), offset, limit)).toEqual({
          total: ORDINALS.length,
          ordinals: NEWEST_FIRST.slice(offset, offset + limit),
        })
      }
    }
  })

  it('finds nothing in an empty index', () => {
    expect(new SearchIndex([], 0, 0).find(words('match'), 0, 10)).toEqual({ total: 0, ordinals: [] })
  })

  it('reports the size of all segments', () => {
    const segments = [new SearchSegment(['ab']), new SearchSegment(['c'])]
    expect(new SearchIndex(segments, 0, 0).size).toBe('ab\nc\n'.length)
  })

  it('advances to later creations and updates, also in new segments', () => {
    const index = new SearchIndex([new SearchSegment(Array(SEGMENT_SIZE).fill('old'))], SEGMENT_SIZE, 4)
    index.advance(
      new Map([
        [0, 'first'],
        [SEGMENT_SIZE - 1, 'last'],
        [SEGMENT_SIZE, 'next'],
        [SEGMENT_SIZE + 1, 'one more'],
      ]),
      SEGMENT_SIZE + 2,
      6,
    )
    expect([index.patients, index.updates]).toEqual([SEGMENT_SIZE + 2, 6])
    expect(index.find(words('first'), 0, 9).ordinals).toEqual([0])
    expect(index.find(words('last'), 0, 9).ordinals).toEqual([SEGMENT_SIZE - 1])
    expect(index.find(words('next'), 0, 9).ordinals).toEqual([SEGMENT_SIZE])
    expect(index.find(words('one more'), 0, 9).ordinals).toEqual([SEGMENT_SIZE + 1])
    expect(index.find(words('old'), 0, 9).total).toBe(SEGMENT_SIZE - 2)
  })
})
