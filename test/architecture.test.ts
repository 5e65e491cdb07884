import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UNIT } from '../vitest.config.ts'

/**
 * The folders and files that the files of a folder and of those below it may import, besides the folder itself. The longest entry
 * that a file is in applies.
 */
const IMPORTS: Record<string, string[]> = {
  'shared/domain': [],
  'shared/observability': [],
  'shared/operator': [],
  // Installed by integrators: imports nothing of ours.
  'shared/clients/typescript': [],
  'shared/clients/mcp': [
    'shared/api/error-catalogue.ts',
    'shared/clients/typescript',
    'shared/openapi/read-document.ts',
    'shared/reference/remedies.ts',
  ],
  'shared/clients/python': ['shared/openapi/read-document.ts'],
  'shared/store/keys': ['shared/domain'],
  'shared/store/table': ['shared/domain', 'shared/store/keys'],
  'shared/store': ['shared/domain'],
  'shared/api': ['shared/domain'],
  'shared/delivery': ['shared/domain', 'shared/store/table/chunked.ts'],
  'shared/http': ['shared/api', 'shared/domain', 'shared/observability'],
  'shared/openapi': ['shared/api', 'shared/delivery', 'shared/domain', 'shared/http'],
  'shared/reference': [
    'shared/api',
    'shared/clients/python/generator.ts',
    'shared/http',
    'shared/observability',
    'shared/openapi/read-document.ts',
  ],
  'shared/requests': ['shared/api', 'shared/domain', 'shared/store', 'shared/sync'],
  'shared/runtime': [
    'shared/api',
    'shared/delivery',
    'shared/domain',
    'shared/http',
    'shared/observability',
    'shared/requests',
    'shared/store',
  ],
  'shared/maintenance': ['shared/api', 'shared/domain', 'shared/store'],
  'shared/sync': ['shared/api', 'shared/domain', 'shared/store'],
  functions: [
    'shared/api',
    'shared/delivery',
    'shared/domain',
    'shared/http',
    'shared/observability',
    'shared/reference',
    'shared/requests',
    'shared/runtime',
    'shared/store',
  ],
  'functions/workers': [
    'shared/delivery',
    'shared/domain',
    'shared/maintenance',
    'shared/runtime',
    'shared/store',
  ],
  'infra/local': ['shared/delivery/test-recipients.ts'],
  infra: [
    'docs/grants.json',
    'shared/api',
    'shared/domain',
    'shared/observability',
    'shared/operator',
    'shared/reference',
    'shared/runtime/workers.ts',
    'shared/store/keys',
  ],
  'bin/clinic': ['bin/local/data-folder.ts', 'infra/local/process/move-clock.ts', 'package.json', 'shared'],
  'bin/clinic/restore': [
    'bin/clinic',
    'bin/local/data-folder.ts',
    'infra/local/engines/dynamodb.ts',
    'shared',
  ],
  // Measures with the records and engines of the tests.
  'bin/bench': ['bin/clinic', 'bin/local/clinics.ts', 'functions', 'infra', 'shared', 'test/support'],
  'bin/bench.ts': ['bin/bench', 'infra', 'shared', 'test/support'],
  bin: ['functions', 'infra', 'shared'],
}

const files = globSync('{bin,infra,functions,shared}/**/*.ts', { exclude: ['**/node_modules/**'] })
const isIn = (folder: string) => (file: string) => file === folder || file.startsWith(`${folder}/`)
const entryOf = (file: string): string =>
  Object.keys(IMPORTS)
    .filter((folder) => isIn(folder)(file))
    .reduce((longest, folder) => (folder.length > longest.length ? folder : longest), '')

const importsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from|import) '([^']+)'|import\('([^']+)'\)/g)].map(
    ([, from, dynamic]) => from ?? dynamic ?? '',
  )

/** The files of this repository that a file imports. */
const targetsOf = (file: string): string[] =>
  importsOf(file)
    .filter((name) => name.startsWith('.'))
    .map((name) => normalize(join(dirname(file), name)))

/** The modules that are loaded with a file: files of this repository, and packages. */
function loadedBy(entry: string): { files: Set<string>; packages: Set<string> } {
  const loaded = { files: new Set<string>(), packages: new Set<string>() }
  const visit = (file: string): void => {
    if (loaded.files.has(file)) return
    loaded.files.add(file)
    const text = readFileSync(file, 'utf8').replace(/import type [^']+'[^']+'/g, '')
    for (const [, name = ''] of text.matchAll(/from '([^']+)'/g))
      if (name.startsWith('.')) visit(normalize(join(dirname(file), name)))
      else loaded.packages.add(name)
  }
  visit(entry)
  return loaded
}

/** The edges of a graph that close a cycle. */
function cyclesOf(targets: ReadonlyMap<string, Iterable<string>>): string[] {
  const seen = new Map<string, 'open' | 'done'>()
  const cycles: string[] = []
  const visit = (node: string, trail: string[]): void => {
    if (seen.get(node) === 'open') cycles.push([...trail, node].join(' -> '))
    if (seen.has(node)) return
    seen.set(node, 'open')
    for (const target of targets.get(node) ?? []) visit(target, [...trail, node])
    seen.set(node, 'done')
  }
  for (const node of targets.keys()) visit(node, [])
  return cycles
}

describe('architecture', () => {
  it('allows no import that is not listed', () => {
    const unlisted = files.flatMap((file) => {
      const folder = entryOf(file)
      const allowed = [folder, ...(IMPORTS[folder] ?? [])]
      return targetsOf(file)
        .filter((target) => folder === '' || !allowed.some((entry) => isIn(entry)(target)))
        .map((target) => `${file} -> ${target}`)
    })
    expect(unlisted).toEqual([])
  })

  it('allows no cycle between files', () => {
    expect(cyclesOf(new Map(files.map((file) => [file, targetsOf(file)])))).toEqual([])
  })

  it('allows no cycle between folders', () => {
    const folders = new Map<string, Set<string>>()
    for (const file of files) {
      const targets = folders.get(dirname(file)) ?? new Set()
      folders.set(dirname(file), targets)
      for (const target of targetsOf(file))
        if (dirname(target) !== dirname(file)) targets.add(dirname(target))
    }
    expect(cyclesOf(folders)).toEqual([])
  })

  it('allows the domain five packages, none of AWS or of I/O', () => {
    const packages = globSync('shared/domain/**/*.ts')
      .flatMap(importsOf)
      .filter((name) => !name.startsWith('.'))
    expect([...new Set(packages)].sort()).toEqual([
      'fastest-levenshtein',
      'libphonenumber-js/max',
      'node:url',
      'uuid',
      'zod',
    ])
  })

  it('allows no clock and no generated ids in functions and in the domain', () => {
    const readers = globSync('{functions,shared/domain}/**/*.ts').filter((file) =>
      /newUuid\(\)|randomUUID\(|Date\.now\b|new Date\(\)|Math\.random\(/.test(readFileSync(file, 'utf8')),
    )
    expect(readers).toEqual([])
  })

  it('synthesizes the stack without loading the AWS SDK', () => {
    const { files: loaded, packages } = loadedBy('bin/app.ts')
    expect([...loaded]).toContain('shared/runtime/workers.ts')
    expect([...packages]).toContain('aws-cdk-lib')
    expect([...packages].filter((name) => /^@(aws-sdk|smithy|middy)\//.test(name))).toEqual([])
  })

  it('reads the environment of functions in one file, and for the SDK in another', () => {
    const readers = globSync('{functions,shared}/**/*.ts', {
      exclude: ['**/node_modules/**', 'shared/clients/**'],
    }).filter((file) => readFileSync(file, 'utf8').includes('process.env'))
    expect(readers.sort()).toEqual(['shared/runtime/credentials.ts', 'shared/runtime/environment.ts'])
  })

  it('builds keys in one folder', () => {
    const builders = globSync('shared/store/**/*.ts').filter((file) =>
      /pk: [`']|\$\{.*\}#/.test(readFileSync(file, 'utf8')),
    )
    expect(builders.filter((file) => !isIn('shared/store/keys')(file))).toEqual([])
  })

  it('allows no barrels, and no folders or files without a subject', () => {
    expect(files.filter((file) => /(^|\/)(index|utils?|helpers?|common|misc)(\.ts|\/)/.test(file))).toEqual(
      [],
    )
  })
})

it('test/ mirrors the folders of the source', () => {
  const folders = new Set(globSync('test/**/*.ts').map((file) => dirname(file).replace(/^test\/?/, '')))
  const strange = [...folders].filter(
    (folder) =>
      folder !== '' &&
      !/^(conformance|e2e|histories|simulations|support)(\/|$)/.test(folder) &&
      !existsSync(folder),
  )
  expect(strange).toEqual([])
})

it('unit tests use no engine, no other process and no template', () => {
  const heavy = globSync(UNIT).filter(
    (file) =>
      /\b(fresh\w*Table|tableOfFile|engineClient)\(/.test(readFileSync(file, 'utf8')) ||
      [...loadedBy(file).packages].some((name) => /^(node:child_process|aws-cdk-lib)/.test(name)),
  )
  expect(heavy).toEqual([])
})
