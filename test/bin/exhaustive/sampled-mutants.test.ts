import { describe, expect, it } from 'vitest'
import {
  drawMutants,
  listMutants,
  mutate,
  sourceOf,
  testsOf,
} from '../../../bin/exhaustive/sampled-mutants.ts'

const ROOM = `export function isFree(room: Room): boolean {
  return room.beds > room.taken && room.open
}
`
const mutantsOf = (text: string, file = 'shared/room.ts') => listMutants([sourceOf(file, text)])
const idsOf = async (text: string, file?: string) => (await mutantsOf(text, file)).map(({ id }) => id)

describe('mutants', () => {
  it('have the same ids after the code has moved to another file', async () => {
    const ids = await idsOf(ROOM)
    const moved = `import { x } from './x.ts'\n\nconst one = [x]\n\n${ROOM.replace('export ', '')}`
    expect(await idsOf(moved, 'shared/ward.ts')).toEqual(expect.arrayContaining(ids))
    expect(ids.length).toBeGreaterThan(5)
  })

  it('have different ids where the same code occurs twice', async () => {
    const ids = await idsOf(ROOM + ROOM.replace('isFree', 'isBookable'))
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('do not change types and texts', async () => {
    expect(await mutantsOf(`type A = { a: 'b' | true }\nexport const text = 'c' as A['a']\n`)).toEqual([])
  })

  it('replace an operand as a whole', async () => {
    const texts = (await mutantsOf('export const f = (a, b, c) => a && b && c')).map((mutant) =>
      mutate('export const f = (a, b, c) => a && b && c', mutant),
    )
    expect(texts).toContain('export const f = (a, b, c) => (a || b) && c')
  })

  it('are drawn by the seed, in whatever order they are listed', async () => {
    const mutants = await mutantsOf(ROOM)
    const drawn = drawMutants(mutants, 3, '28')
    expect(drawn).toHaveLength(3)
    expect(drawMutants(mutants.toReversed(), 3, '28')).toEqual(drawn)
    expect(drawMutants(mutants, 3, '29')).not.toEqual(drawn)
  })
})

describe('the tests of a file', () => {
  const sources = [
    sourceOf('shared/ward.ts', `import { isFree } from './room.ts'`),
    sourceOf('test/ward.test.ts', `import { ward } from '../shared/ward.ts'`),
    sourceOf('test/other.test.ts', `import type { Room } from '../shared/room.ts'`),
    sourceOf('functions/list-wards.ts', `import { ward } from '../shared/ward.ts'`),
    sourceOf('test/wards.test.ts', `await import(\`../functions/\${id}.ts\`)`),
  ]

  it('are those that import it, and first the test of the same path', () => {
    const room = [
      sourceOf('test/a.test.ts', `import '../shared/room.ts'`),
      sourceOf('test/shared/room.unit.test.ts', `import '../../shared/room.ts'`),
    ]
    expect(testsOf('shared/room.ts', [...sources, ...room])).toEqual([
      'test/shared/room.unit.test.ts',
      'test/a.test.ts',
    ])
  })

  it('are those that import it over other files if none imports it', () => {
    expect(testsOf('shared/room.ts', sources)).toEqual(['test/ward.test.ts', 'test/wards.test.ts'])
  })
})
