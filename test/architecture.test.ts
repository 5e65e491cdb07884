import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UNIT } from '../vitest.config.ts'

/**
 * The imports that each room's files may have, besides their own room: a room, a room with those below it (`/**`), or a file. Arrows
 * point one way: a room is listed below all that it imports.
 */
const ARROWS: Record<string, string[]> = {
  // Installed by integrators: imports nothing of ours.
  'shared/clients/typescript': [],
  'shared/domain': [],
  'shared/observability': [],
  'shared/operator': [],
  'shared/domain/patients': ['shared/domain'],
  'shared/domain/booking': ['shared/domain', 'shared/domain/patients'],
  'shared/domain/lists': [],
  'shared/domain/messages': ['shared/domain', 'shared/domain/booking', 'shared/domain/patients'],
  'shared/domain/money': ['shared/domain', 'shared/domain/booking'],
  'shared/domain/webhooks': [
    'shared/domain',
    'shared/domain/booking',
    'shared/domain/messages',
    'shared/domain/money',
    'shared/domain/patients',
  ],
  'shared/store/keys': ['shared/domain/**'],
  'shared/api': ['shared/domain/**', 'shared/store/keys/families.ts'],
  'shared/delivery': ['shared/domain/**'],
  'shared/delivery/email': ['shared/delivery', 'shared/domain/**'],
  'shared/delivery/sms': ['shared/delivery', 'shared/domain/**'],
  'shared/delivery/webhooks': ['shared/delivery', 'shared/domain/**'],
  'shared/http': ['shared/api', 'shared/domain/**', 'shared/observability'],
  'shared/openapi': ['shared/api', 'shared/delivery/**', 'shared/domain/**', 'shared/http'],
  // What integrators install is Python: it imports nothing of ours.
  'shared/clients/python': ['shared/openapi/read-document.ts'],
  'shared/store/table': ['shared/domain/**', 'shared/store/keys'],
  'shared/store/external-ids': ['shared/domain/**', 'shared/store/keys', 'shared/store/table'],
  'shared/store/patients': [
    'shared/domain/**',
    'shared/store/external-ids',
    'shared/store/keys',
    'shared/store/table',
  ],
  'shared/store': [
    'shared/domain/**',
    'shared/store/external-ids',
    'shared/store/keys',
    'shared/store/patients',
    'shared/store/table',
  ],
  'shared/store/calendar': [
    'shared/domain/**',
    'shared/store',
    'shared/store/external-ids',
    'shared/store/keys',
    'shared/store/patients',
    'shared/store/table',
  ],
  'shared/requests': [
    'shared/api',
    'shared/domain/**',
    'shared/store/calendar',
    'shared/store/patients',
    'shared/store/table',
  ],
  'shared/runtime': [
    'shared/api',
    'shared/delivery/**',
    'shared/domain/**',
    'shared/http',
    'shared/observability',
    'shared/requests',
    'shared/store',
    'shared/store/keys',
    'shared/store/table',
  ],
  'shared/maintenance/walk': ['shared/domain/**', 'shared/store/keys', 'shared/store/table'],
  'infra/kept': [],
  'infra/local/process': [],
  'bin/clinic/tool': [
    'infra/local/process/move-clock.ts',
    'shared/domain/**',
    'shared/maintenance/walk',
    'shared/observability',
    'shared/operator',
    'shared/runtime/document-client.ts',
    'shared/store',
    'shared/store/keys',
    'shared/store/table',
  ],
  'bin/clinic/import/files': ['bin/clinic/tool', 'shared/store/table'],
  'shared/store/messages': [
    'shared/domain/**',
    'shared/store',
    'shared/store/calendar',
    'shared/store/keys',
    'shared/store/patients',
    'shared/store/table',
  ],
  'shared/store/copies': [
    'shared/domain/**',
    'shared/store',
    'shared/store/calendar',
    'shared/store/external-ids',
    'shared/store/keys',
    'shared/store/messages',
    'shared/store/patients',
    'shared/store/table',
  ],
  'bin/clinic/import/external-ids': [
    'bin/clinic/import/files',
    'shared/domain/**',
    'shared/store',
    'shared/store/copies',
    'shared/store/external-ids',
    'shared/store/keys',
    'shared/store/table',
  ],
  'bin/clinic/import/entities': [
    'bin/clinic/import/external-ids',
    'bin/clinic/import/files',
    'shared/api',
    'shared/domain/**',
    'shared/store',
    'shared/store/calendar',
    'shared/store/copies',
    'shared/store/external-ids',
    'shared/store/keys',
    'shared/store/messages',
    'shared/store/patients',
    'shared/store/table',
  ],
  'bin/clinic/import/maps': ['bin/clinic/import/external-ids', 'bin/clinic/import/files', 'shared/domain/**'],
  'bin/clinic/import/run': [
    'bin/clinic/import/entities',
    'bin/clinic/import/external-ids',
    'bin/clinic/import/files',
    'bin/clinic/import/maps',
    'bin/clinic/tool',
    'shared/domain/**',
    'shared/store',
    'shared/store/calendar',
    'shared/store/external-ids',
    'shared/store/keys',
    'shared/store/table',
  ],
  'bin/demo': [
    'bin/clinic/import/entities',
    'bin/clinic/import/files',
    'bin/clinic/import/run',
    'shared/domain/**',
    'shared/store',
    'shared/store/table',
  ],
  'shared/reference': [
    'shared/api',
    'shared/openapi/read-document.ts',
    'shared/clients/python/generator.ts',
    'shared/http',
    'shared/observability',
  ],
  // What assistants install; the API's texts get in when it is built.
  'shared/clients/mcp': [
    'shared/api/error-catalogue.ts',
    'shared/openapi/read-document.ts',
    'shared/reference/remedies.ts',
    'shared/clients/typescript',
  ],
  'shared/store/events': ['shared/domain/**', 'shared/store', 'shared/store/keys', 'shared/store/table'],
  functions: [
    'shared/api',
    'shared/delivery/**',
    'shared/domain/**',
    'shared/http',
    'shared/observability',
    'shared/reference',
    'shared/requests',
    'shared/runtime',
    'shared/store',
    'shared/store/calendar',
    'shared/store/copies',
    'shared/store/events',
    'shared/store/messages',
    'shared/store/patients',
    'shared/store/table',
  ],
  'bin/clinic/records': [
    'bin/clinic/import/external-ids',
    'bin/clinic/tool',
    'shared/api',
    'shared/domain/**',
    'shared/requests',
    'shared/store',
    'shared/store/calendar',
    'shared/store/external-ids',
    'shared/store/keys',
    'shared/store/patients',
    'shared/store/table',
  ],
  'bin/clinic/appointments': [
    'bin/clinic/records',
    'bin/clinic/tool',
    'shared/api',
    'shared/domain/**',
    'shared/requests',
    'shared/store',
    'shared/store/calendar',
    'shared/store/keys',
    'shared/store/patients',
    'shared/store/table',
  ],
  'bin/clinic/catalogue': [
    'bin/clinic/appointments',
    'bin/clinic/import/entities',
    'bin/clinic/records',
    'bin/clinic/tool',
    'shared/api',
    'shared/domain/**',
    'shared/store',
    'shared/store/external-ids',
    'shared/store/table',
  ],
  'bin/clinic/doctors': [
    'bin/clinic/appointments',
    'bin/clinic/import/entities',
    'bin/clinic/records',
    'bin/clinic/tool',
    'shared/api',
    'shared/domain/**',
    'shared/store',
    'shared/store/table',
  ],
  'bin/clinic/export': [
    'bin/clinic/import/entities',
    'bin/clinic/import/external-ids',
    'bin/clinic/import/files',
    'bin/clinic/import/maps',
    'bin/clinic/import/run',
    'bin/clinic/records',
    'bin/clinic/tool',
    'shared/api',
    'shared/domain/**',
    'shared/maintenance/walk',
    'shared/store',
    'shared/store/calendar',
    'shared/store/external-ids',
    'shared/store/keys',
    'shared/store/messages',
    'shared/store/patients',
    'shared/store/table',
  ],
  'bin/clinic/clinics': [
    'bin/clinic/appointments',
    'bin/clinic/doctors',
    'bin/clinic/export',
    'bin/clinic/import/entities',
    'bin/clinic/records',
    'bin/clinic/tool',
    'shared/domain/**',
    'shared/maintenance/walk',
    'shared/store',
    'shared/store/copies',
    'shared/store/events',
    'shared/store/keys',
    'shared/store/table',
  ],
  'bin/clinic/credentials': [
    'bin/clinic/import/entities',
    'bin/clinic/tool',
    'shared/domain/**',
    'shared/store',
    'shared/store/events',
    'shared/store/table',
  ],
  'bin/clinic/dead-letters': ['bin/clinic/tool', 'shared/api', 'shared/store/table'],
  'bin/clinic/finance': [
    'bin/clinic/records',
    'bin/clinic/tool',
    'shared/api',
    'shared/domain/**',
    'shared/requests',
    'shared/store',
    'shared/store/calendar',
    'shared/store/external-ids',
    'shared/store/table',
  ],
  'bin/clinic/import': [
    'bin/clinic/import/entities',
    'bin/clinic/import/files',
    'bin/clinic/import/maps',
    'bin/clinic/import/run',
    'bin/clinic/tool',
    'shared/domain/**',
    'shared/store/table',
  ],
  'bin/clinic/messages': [
    'bin/clinic/dead-letters',
    'bin/clinic/import/entities',
    'bin/clinic/records',
    'bin/clinic/tool',
    'shared/api',
    'shared/domain/**',
    'shared/requests',
    'shared/store',
    'shared/store/messages',
    'shared/store/table',
  ],
  'shared/maintenance/migrate': ['shared/maintenance/walk', 'shared/store/keys', 'shared/store/table'],
  'bin/clinic/migrate': ['bin/clinic/tool', 'shared/maintenance/migrate', 'shared/store/keys'],
  'shared/maintenance/verify/comparison': [
    'shared/domain/**',
    'shared/maintenance/walk',
    'shared/store/calendar',
    'shared/store/external-ids',
    'shared/store/keys',
    'shared/store/patients',
    'shared/store/table',
  ],
  'shared/maintenance/verify/calendar': [
    'shared/domain/**',
    'shared/maintenance/verify/comparison',
    'shared/maintenance/walk',
    'shared/store',
    'shared/store/calendar',
    'shared/store/copies',
    'shared/store/external-ids',
    'shared/store/keys',
    'shared/store/messages',
    'shared/store/patients',
    'shared/store/table',
  ],
  'shared/maintenance/verify/patients': [
    'shared/domain/**',
    'shared/maintenance/verify/comparison',
    'shared/maintenance/walk',
    'shared/store/keys',
    'shared/store/patients',
    'shared/store/table',
  ],
  'shared/maintenance/verify': [
    'shared/domain/**',
    'shared/maintenance/verify/calendar',
    'shared/maintenance/verify/comparison',
    'shared/maintenance/verify/patients',
    'shared/maintenance/walk',
    'shared/store',
    'shared/store/calendar',
    'shared/store/copies',
    'shared/store/events',
    'shared/store/external-ids',
    'shared/store/keys',
    'shared/store/table',
  ],
  'shared/maintenance/restore': [
    'shared/api',
    'shared/domain/**',
    'shared/maintenance/verify',
    'shared/maintenance/verify/comparison',
    'shared/maintenance/walk',
    'shared/store',
    'shared/store/copies',
    'shared/store/events',
    'shared/store/keys',
    'shared/store/messages',
    'shared/store/patients',
    'shared/store/table',
  ],
  'shared/maintenance': [
    'shared/maintenance/migrate',
    'shared/maintenance/restore',
    'shared/maintenance/verify',
    'shared/maintenance/walk',
    'shared/store',
    'shared/store/keys',
    'shared/store/table',
  ],
  'shared/maintenance/restore/clinic': [
    'shared/domain/**',
    'shared/maintenance/restore',
    'shared/maintenance/verify/calendar',
    'shared/maintenance/walk',
    'shared/store',
    'shared/store/calendar',
    'shared/store/copies',
    'shared/store/events',
    'shared/store/external-ids',
    'shared/store/keys',
    'shared/store/patients',
    'shared/store/table',
  ],
  'bin/clinic/patients': [
    'bin/clinic/appointments',
    'bin/clinic/export',
    'bin/clinic/records',
    'bin/clinic/tool',
    'shared/api',
    'shared/domain/**',
    'shared/maintenance/restore',
    'shared/observability',
    'shared/operator',
    'shared/requests',
    'shared/store',
    'shared/store/calendar',
    'shared/store/copies',
    'shared/store/messages',
    'shared/store/patients',
    'shared/store/table',
  ],
  'bin/clinic/restore': [
    'bin/clinic/tool',
    'shared/domain/**',
    'shared/maintenance/restore',
    'shared/maintenance/restore/clinic',
    'shared/maintenance/walk',
    'shared/store',
    'shared/store/keys',
    'shared/store/table',
  ],
  'bin/clinic/verify': [
    'bin/clinic/export',
    'bin/clinic/tool',
    'shared/domain/**',
    'shared/maintenance/verify',
    'shared/maintenance/verify/comparison',
    'shared/maintenance/walk',
    'shared/store',
    'shared/store/keys',
    'shared/store/table',
  ],
  'bin/clinic/webhooks': [
    'bin/clinic/records',
    'bin/clinic/tool',
    'shared/api',
    'shared/clients/typescript',
    'shared/domain/**',
    'shared/store/events',
  ],
  'bin/clinic': [
    'package.json',
    'bin/clinic/appointments',
    'bin/clinic/catalogue',
    'bin/clinic/clinics',
    'bin/clinic/credentials',
    'bin/clinic/dead-letters',
    'bin/clinic/doctors',
    'bin/clinic/export',
    'bin/clinic/finance',
    'bin/clinic/import',
    'bin/clinic/messages',
    'bin/clinic/migrate',
    'bin/clinic/patients',
    'bin/clinic/records',
    'bin/clinic/restore',
    'bin/clinic/tool',
    'bin/clinic/verify',
    'bin/clinic/webhooks',
    'shared/operator',
  ],
  'infra/local/template': ['infra/local/process'],
  'infra/local/engines': ['infra/local/process', 'infra/local/template'],
  'infra/local/functions': ['infra/local/template'],
  'infra/local/events': ['infra/local/engines', 'infra/local/functions', 'infra/local/template'],
  'infra/local/logs': ['infra/local/template'],
  'infra/local/providers': [
    'infra/local/engines',
    'infra/local/events',
    'infra/local/functions',
    'infra/local/template',
    'shared/delivery/test-recipients.ts',
  ],
  'infra/local/gateway': [
    'infra/local/events',
    'infra/local/functions',
    'infra/local/logs',
    'infra/local/providers',
    'infra/local/template',
  ],
  'infra/local': [
    'infra/local/engines',
    'infra/local/events',
    'infra/local/functions',
    'infra/local/gateway',
    'infra/local/logs',
    'infra/local/providers',
    'infra/local/template',
  ],
  'bin/local': [
    'bin/demo',
    'infra/kept',
    'infra/local',
    'shared/domain/clock.ts',
    'shared/domain/timestamp.ts',
    'shared/runtime/document-client.ts',
    'shared/store/table',
  ],
  'bin/prove': [],
  'infra/settings': [
    'shared/domain/credential.ts',
    'shared/domain/patients/text-fields.ts',
    'shared/runtime/workers.ts',
  ],
  'infra/data': ['infra/settings', 'shared/observability', 'shared/store/keys'],
  'infra/functions': [
    'infra/data',
    'infra/kept',
    'infra/settings',
    'shared/api',
    'shared/reference',
    'shared/runtime/workers.ts',
    'shared/store/keys',
  ],
  'bin/bench': [
    'bin/clinic/import/entities',
    'bin/clinic/import/run',
    'bin/clinic/tool/operator-client.ts',
    'bin/demo',
    'functions',
    'infra/data',
    'infra/functions',
    'infra/settings',
    'shared/api',
    'shared/delivery/**',
    'shared/domain/**',
    'shared/requests',
    'shared/runtime/workers.ts',
    'shared/store',
    'shared/store/calendar',
    'shared/store/events',
    'shared/store/keys',
    'shared/store/messages',
    'shared/store/patients',
    'shared/store/table',
    // The one import from bin into test.
    'test/support/realistic-dynamodb/realistic-dynamodb.ts',
  ],
  'infra/api': ['infra/data', 'infra/functions', 'infra/settings', 'shared/api'],
  'infra/messaging': ['infra/functions', 'infra/settings', 'shared/runtime/workers.ts'],
  'infra/monitoring': ['infra/settings', 'shared/observability', 'shared/runtime/workers.ts'],
  'infra/operators': [
    'infra/data',
    'infra/functions',
    'infra/settings',
    'shared/operator',
    'shared/store/keys',
  ],
  'infra/stacks': [
    'infra/api',
    'infra/data',
    'infra/functions',
    'infra/messaging',
    'infra/monitoring',
    'infra/operators',
    'infra/settings',
    'shared/api',
    'shared/runtime/workers.ts',
  ],
  'bin/preflight': ['bin/bench', 'infra/data', 'infra/settings', 'infra/stacks'],
  bin: [
    'bin/bench',
    'bin/clinic',
    'bin/clinic/tool',
    'bin/demo',
    'bin/local',
    'bin/preflight',
    'bin/prove',
    'infra/functions',
    'infra/kept',
    'infra/local',
    'infra/local/engines',
    'infra/local/process',
    'infra/settings',
    'infra/stacks',
    'shared/api',
    'shared/openapi',
    'shared/clients/python/generator.ts',
    'shared/clients/typescript',
    'shared/domain/**',
    'shared/operator',
    'shared/runtime/workers.ts',
    'shared/store',
    'shared/store/table',
  ],
  'functions/workers': [
    'shared/delivery/**',
    'shared/domain/**',
    'shared/maintenance',
    'shared/maintenance/walk',
    'shared/runtime',
    'shared/store',
    'shared/store/calendar',
    'shared/store/copies',
    'shared/store/events',
    'shared/store/keys',
    'shared/store/messages',
    'shared/store/table',
  ],
}

const files = globSync('{bin,infra,functions,shared}/**/*.ts', { exclude: ['**/node_modules/**'] })
const roomOf = (file: string): string =>
  Object.keys(ARROWS)
    .filter((room) => file.startsWith(`${room}/`))
    .reduce((longest, room) => (room.length > longest.length ? room : longest), '')

/** The rooms that an entry of the arrows names. */
const roomsOf = (entry: string): string[] =>
  entry.endsWith('/**')
    ? Object.keys(ARROWS).filter((room) => `${room}/`.startsWith(entry.slice(0, -2)))
    : [entry]

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

describe('the rooms', () => {
  it('import only where their arrows point', () => {
    const strange = files.flatMap((file) => {
      const room = roomOf(file)
      if (room === '') return [`${file} is in no room`]
      const allowed = [room, ...(ARROWS[room] ?? [])]
      return targetsOf(file)
        .filter(
          (target) => !allowed.some((entry) => target === entry || roomsOf(entry).includes(roomOf(target))),
        )
        .map((target) => `${file} -> ${target}`)
    })
    expect(strange).toEqual([])
  })

  it('point one way: no room imports from one that is listed after it', () => {
    const order = Object.keys(ARROWS)
    const upward = Object.entries(ARROWS).flatMap(([room, targets]) =>
      targets
        .flatMap((target) => (target.endsWith('.ts') ? [roomOf(target)] : roomsOf(target)))
        .filter((target) => order.indexOf(target) >= order.indexOf(room))
        .map((target) => `${room} -> ${target}`),
    )
    expect(upward).toEqual([])
  })

  it('keeps the domain free of AWS and I/O', () => {
    const packages = globSync('shared/domain/**/*.ts')
      .flatMap(importsOf)
      .filter((name) => !name.startsWith('.'))
    expect([...new Set(packages)].sort()).toEqual(['libphonenumber-js/max', 'node:url', 'uuid', 'zod'])
  })

  it('has functions and a domain that read no clock and make no ids', () => {
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

  it('reads the environment of functions in one file, for the SDK in another, and for assistants in theirs', () => {
    const readers = globSync('{functions,shared}/**/*.ts', { exclude: ['**/node_modules/**'] }).filter(
      (file) => readFileSync(file, 'utf8').includes('process.env'),
    )
    expect(readers.sort()).toEqual([
      'shared/clients/mcp/server.ts',
      'shared/runtime/credentials.ts',
      'shared/runtime/environment.ts',
    ])
  })

  it('builds keys in one room', () => {
    const builders = globSync('shared/store/**/*.ts').filter((file) =>
      /pk: [`']|\$\{.*\}#/.test(readFileSync(file, 'utf8')),
    )
    expect(builders.filter((file) => roomOf(file) !== 'shared/store/keys')).toEqual([])
  })

  it('has no barrels, and no rooms without a name', () => {
    expect(files.filter((file) => /(^|\/)(index|utils?|helpers?|common|misc)(\.ts|\/)/.test(file))).toEqual(
      [],
    )
  })

  it('has no cycles', () => {
    const seen = new Map<string, 'open' | 'done'>()
    const cycles: string[] = []
    const visit = (file: string, trail: string[]): void => {
      if (seen.get(file) === 'open') cycles.push([...trail, file].join(' -> '))
      if (seen.has(file)) return
      seen.set(file, 'open')
      for (const target of targetsOf(file)) visit(target, [...trail, file])
      seen.set(file, 'done')
    }
    for (const file of files) visit(file, [])
    expect(cycles).toEqual([])
  })
})

it('test/ has the folders of the source, besides end-to-end tests, simulations, histories, judges and support', () => {
  const folders = new Set(globSync('test/**/*.ts').map((file) => dirname(file).replace(/^test\/?/, '')))
  const strange = [...folders].filter(
    (folder) =>
      folder !== '' &&
      !/^(e2e|histories|judges|simulations|support)(\/|$)/.test(folder) &&
      !existsSync(folder),
  )
  expect(strange).toEqual([])
  const atTop = globSync('test/*.ts').sort()
  expect(atTop).toEqual([
    'test/architecture.test.ts',
    'test/docs.test.ts',
    'test/smoke.test.ts',
    'test/words.test.ts',
  ])
})

it('unit tests use no engine, no other process and no template', () => {
  const heavy = globSync(UNIT).filter(
    (file) =>
      /\b(fresh\w*Table|tableOfFile|engineClient)\(/.test(readFileSync(file, 'utf8')) ||
      [...loadedBy(file).packages].some((name) => /^(node:child_process|aws-cdk-lib)/.test(name)),
  )
  expect(heavy).toEqual([])
})
