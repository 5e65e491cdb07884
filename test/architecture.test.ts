import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Which rooms a room's files may import from, beside their own. Arrows point one way. */
const ARROWS: Record<string, string[]> = {
  bin: [
    'infra',
    'infra/local',
    'shared/api',
    'shared/domain',
    'shared/store',
    'shared/import',
    'shared/verify',
    'shared/delivery',
    'shared/runtime/clients.ts',
  ],
  infra: ['shared/api', 'shared/reference', 'shared/store/keys.ts'],
  'infra/local': [],
  functions: [
    'shared/api',
    'shared/delivery',
    'shared/domain',
    'shared/http',
    'shared/reference',
    'shared/runtime',
    'shared/store',
  ],
  'shared/runtime': ['shared/api', 'shared/delivery', 'shared/domain', 'shared/http', 'shared/store'],
  'shared/delivery': ['shared/domain'],
  'shared/http': ['shared/api', 'shared/domain'],
  'shared/reference': ['shared/api', 'shared/http'],
  'shared/import': ['shared/api', 'shared/domain', 'shared/store'],
  'shared/verify': ['shared/domain', 'shared/store'],
  'shared/api': ['shared/domain'],
  'shared/store': ['shared/domain'],
  'shared/domain': [],
  // Goes to integrators, alone.
  'shared/client': [],
}

const files = globSync('{bin,infra,functions,shared}/**/*.ts', { exclude: ['**/node_modules/**'] })
const roomOf = (file: string): string =>
  Object.keys(ARROWS)
    .filter((room) => file.startsWith(`${room}/`))
    .reduce((longest, room) => (room.length > longest.length ? room : longest), '')

const importsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from|import) '([^']+)'|import\('([^']+)'\)/g)].map(
    ([, from, dynamic]) => from ?? dynamic ?? '',
  )

describe('the rooms', () => {
  it.each(files)('%s imports only where its arrows point', (file) => {
    const room = roomOf(file)
    expect(room).not.toBe('')
    const allowed = [room, ...(ARROWS[room] ?? [])]
    const strange = importsOf(file)
      .filter((name) => name.startsWith('.'))
      .map((name) => normalize(join(dirname(file), name)))
      .filter((target) => !allowed.includes(target) && !allowed.includes(roomOf(target)))
    expect(strange).toEqual([])
  })

  it('keeps the domain free of AWS and I/O', () => {
    const packages = globSync('shared/domain/*.ts')
      .flatMap(importsOf)
      .filter((name) => !name.startsWith('.'))
    expect([...new Set(packages)].sort()).toEqual([
      'libphonenumber-js/max',
      'temporal-polyfill',
      'uuid',
      'zod',
    ])
  })

  it('reads the environment of functions in one file', () => {
    const readers = globSync('{functions,shared}/**/*.ts', { exclude: ['**/node_modules/**'] }).filter(
      (file) => readFileSync(file, 'utf8').includes('process.env'),
    )
    expect(readers).toEqual(['shared/runtime/environment.ts'])
  })

  it('builds keys in one file', () => {
    const builders = globSync('shared/store/*.ts').filter((file) =>
      /pk: [`']|\$\{.*\}#/.test(readFileSync(file, 'utf8')),
    )
    expect(builders).toEqual(['shared/store/keys.ts'])
  })

  it('has no barrels, and no rooms without a name', () => {
    expect(files.filter((file) => /(^|\/)(index|utils?|helpers?|common|misc)(\.ts|\/)/.test(file))).toEqual(
      [],
    )
  })

  it('has no cycles', () => {
    const targets = (file: string) =>
      importsOf(file)
        .filter((name) => name.startsWith('.'))
        .map((name) => normalize(join(dirname(file), name)))
    const seen = new Map<string, 'open' | 'done'>()
    const cycles: string[] = []
    const visit = (file: string, trail: string[]): void => {
      if (seen.get(file) === 'open') cycles.push([...trail, file].join(' -> '))
      if (seen.has(file)) return
      seen.set(file, 'open')
      for (const target of targets(file)) visit(target, [...trail, file])
      seen.set(file, 'done')
    }
    for (const file of files) visit(file, [])
    expect(cycles).toEqual([])
  })
})
