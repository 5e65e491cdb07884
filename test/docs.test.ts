/** README.md, CONTRIBUTING.md and docs/ agree with the code. test/e2e/guides.test.ts runs their programs. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  bundleBound,
  DELIVERY_UNITS,
  MAX_IMPORT,
  ROUND_TRIPS,
  uncountedBound,
  WRITE_UNITS,
} from '../bin/bench/bounds.ts'
import { importEntities } from '../bin/clinic/import/entities/entities.ts'
import { generatedFiles } from '../bin/generated-files.ts'
import { BACKUP_RETENTION } from '../infra/data/backup-stack.ts'
import { SETTING_NAMES } from '../infra/settings/stage-file.ts'
import { ROUTES } from '../shared/api/routes.ts'
import { MAX_RANGE_DAYS } from '../shared/api/schemas.ts'
import { MAX_AVAILABILITY_DAYS, MAX_SLOTS } from '../shared/domain/booking/availability.ts'
import { MAX_CATALOGUE } from '../shared/domain/booking/catalogue.ts'
import { MAX_ACTIVE_DOCTORS } from '../shared/domain/booking/doctor.ts'
import {
  ALTERNATIVE_DAYS,
  MAX_DURATION,
  MAX_TREATMENTS,
  MIN_DURATION,
} from '../shared/domain/booking/placement.ts'
import { MAX_LIMIT, MAX_PAGE, MAX_UNCOUNTED_ROWS } from '../shared/domain/lists/paging.ts'
import { CURRENCIES, currencyDecimals } from '../shared/domain/money/currencies.ts'
import {
  lineMatches,
  MAX_LINE_BYTES,
  parseSearchQuery,
  searchLine,
} from '../shared/domain/patients/search-text.ts'
import { RETENTION_SECONDS } from '../shared/domain/webhooks/delivery.ts'
import { MAX_STORED_ATTEMPTS } from '../shared/domain/webhooks/delivery-states.ts'
import {
  DISABLE_AFTER_MS,
  MAX_WEBHOOKS,
  RETRY_DELAYS_MS,
  SECRET_OVERLAP_MS,
} from '../shared/domain/webhooks/webhook.ts'
import { COMMANDS, WHOLE_CLINIC_COMMANDS } from '../shared/operator/commands.ts'
import { MAX_HOLIDAYS } from '../shared/store/holidays.ts'
import { QUOTA_SECONDS } from '../shared/store/messages/quotas.ts'
import { RESPONSE_TTL_SECONDS } from '../shared/store/table/idempotency.ts'
import { openTable } from '../shared/store/table/table.ts'
import { REST, UNIT } from '../vitest.config.ts'
import { blocksOf, DOCUMENTS, matchesExample, operatorCommands } from './support/documentation.ts'
import { settingsOf, templateOf } from './support/template.ts'

const read = (file: string): string => readFileSync(file, 'utf8')

/** Names that the recipes use for files that do not exist yet. */
const RECIPE_EXAMPLE = /(^|\/)(list-)?devices?\.(test\.)?ts$/

describe.each(DOCUMENTS.map((file) => [file] as const))('%s', (file) => {
  const markdown = read(file)

  it('has code blocks that a test runs, or that say why none does', () => {
    const untested = blocksOf(file).filter(({ kind }) => kind === 'untested')
    expect(untested.map(({ line, text }) => `${file}:${line} ${text.split('\n')[0]}`)).toEqual([])
  })

  it('links to files and headings that exist', () => {
    const links = [...markdown.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)]
    const broken = links.filter(([, path = '', anchor]) => {
      const target = path === '' ? file : join(dirname(file), path)
      return !existsSync(target) || (anchor !== undefined && !anchorsOf(read(target)).includes(anchor))
    })
    expect(broken.map(([link]) => link)).toEqual([])
  })

  it('names files that exist', () => {
    const names = [...markdown.matchAll(/`((?:bin|functions|infra|shared|test|docs)\/[\w./*{}-]+\.\w+)`/g)]
    const missing = names.flatMap(([, name = '']) =>
      RECIPE_EXAMPLE.test(name) || globSync(name).length > 0 ? [] : [name],
    )
    expect(missing).toEqual([])
  })

  it('has diagrams in which every node has one label', () => {
    for (const { text } of blocksOf(file).filter(({ kind }) => kind === 'diagram')) {
      const ids = [...text.matchAll(/(?:^|[\s>|])(\w+)(?=[[(])/gm)].map(([, id]) => id)
      expect(ids).toEqual([...new Set(ids)])
    }
  })
})

/** The anchors of a document's headings, as GitHub makes them. */
const anchorsOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )

it('the files generated from the contracts are up to date: if not, run `npm run openapi`', async () => {
  const files = Object.entries(await generatedFiles(read))
  expect(files.flatMap(([file, content]) => (read(file) === content ? [] : [file]))).toEqual([])
})

it('docs/architecture.md lists the folders that exist', () => {
  const [block] = blocksOf('docs/architecture.md').filter(({ kind }) => kind === 'folders')
  const listed: string[] = (block?.text ?? '').match(/^\S+(?=\/ )/gm) ?? []
  expect(listed.filter((folder) => !existsSync(folder))).toEqual([])
  const folders = globSync('{bin,infra,functions,shared}/**/*.ts', { exclude: ['**/node_modules/**'] }).map(
    dirname,
  )
  // Folders below these are described by their own README, or not at all.
  const described = [...new Set(folders)].filter((folder) => !/^infra\/local\/|^shared$/.test(folder))
  expect(described.filter((folder) => !listed.includes(folder))).toEqual([])
})

it('docs/dependencies.md lists the dependencies of package.json', () => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json'))
  const client = JSON.parse(read('shared/clients/typescript/package.json')).devDependencies
  const documented = (heading: string) =>
    (read('docs/dependencies.md').split(`## ${heading}`)[1] ?? '')
      .split('\n## ')[0]
      ?.split('\n')
      .flatMap((line) => /^\| ([^|]+) \|/.exec(line)?.[1]?.split(', ') ?? [])
      .filter((name) => !/^(package|-+|typescript 5)$/.test(name))
      .sort()
  expect(documented('Runtime')).toEqual(Object.keys(dependencies).sort())
  const { typescript: _, ...ofClient } = client
  expect(documented('Development')).toEqual(
    [...Object.keys(devDependencies), ...Object.keys(ofClient)].sort(),
  )
  expect(documented('Optional')).toEqual(Object.keys(optionalDependencies).sort())
})

it('docs/security.md queries the access trail for every command that reaches a whole clinic', () => {
  const [, listed = ''] = /command IN \(([^)]*)\)/.exec(read('docs/security.md')) ?? []
  expect([...listed.matchAll(/'([^']+)'/g)].map(([, name]) => name)).toEqual([...WHOLE_CLINIC_COMMANDS])
  for (const name of WHOLE_CLINIC_COMMANDS) expect(Object.keys(COMMANDS)).toContain(name)
})

it('docs/import.md lists the columns of every entity, with the required ones in bold', () => {
  const rows = read('docs/import.md').matchAll(/^\| ([\w-]+) \| (\*\*external_id\*\*.*) \|$/gm)
  const documented = [...rows].map(([, name, columns = '']) => [name, columns.split(', ').sort()])
  const entities = importEntities(openTable({} as never, 'none'), Date.now)
  expect(documented).toEqual(
    entities.map(({ name, columns, required }) => [
      name,
      ['external_id', ...columns]
        .map((column) => (column === 'external_id' || required.includes(column) ? `**${column}**` : column))
        .sort(),
    ]),
  )
})

// `npm run bench -- --bundles` adds the lines of new functions.
it('docs/benchmarks/bundles.md has lines of functions that exist', () => {
  const lines = read('docs/benchmarks/bundles.md').matchAll(/^\| ([\w-]+) \| [\d,]+ \|/gm)
  const functions = globSync('functions/**/*.ts').map((file) => basename(file, '.ts'))
  const measured = [...lines].map(([, name]) => name)
  expect(measured.length).toBeGreaterThan(50)
  expect(functions).toEqual(expect.arrayContaining(measured))
})

it('docs/proofs.md lists the tests of each promise by their tier', () => {
  const unit = globSync(UNIT)
  const rest = new Set(globSync(REST).filter((file) => !unit.includes(file)))
  const rows = [...read('docs/proofs.md').matchAll(/^\| [^|]+ \| (`test\/[^|]+) \| (`test\/[^|]+) \|$/gm)]
  expect(rows.length).toBeGreaterThan(20)
  const filesIn = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file)
  expect(rows.flatMap(([, tested]) => filesIn(tested).filter((file) => rest.has(file)))).toEqual([])
  expect(rows.flatMap(([, , tested]) => filesIn(tested).filter((file) => !rest.has(file)))).toEqual([])
})

it('docs/proofs.md has survivors that are still in their files', () => {
  const rows = [...read('docs/proofs.md').matchAll(/^\| ([\w-]+\.ts), (.*?) \|/gm)]
  const missing = rows.filter(([, file, expression = '']) => {
    const [path = ''] = globSync(`shared/domain/**/${file}`)
    return /^`/.test(expression) && !read(path).includes(expression.split('`')[1] ?? '')
  })
  expect(rows.length).toBeGreaterThan(10)
  expect(missing.map(([row]) => row)).toEqual([])
})

it('docs/decisions/README.md lists every decision', () => {
  const listed = [...read('docs/decisions/README.md').matchAll(/\]\(([^)]+\.md)\)/g)].map(([, file]) => file)
  expect(listed).toEqual(
    expect.arrayContaining(globSync('docs/decisions/[!R]*.md').map((file) => basename(file))),
  )
})

it('docs/operate/README.md lists every setting of a stage', () => {
  const [, table = ''] = read('docs/operate/README.md').split('| setting | default | effect |')
  const listed = [...table.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)(?:=on)?`/g)].map(([, name]) => name),
  )
  expect(listed).toEqual(expect.arrayContaining(['stage', ...SETTING_NAMES]))
})

it('the documented limits equal the limits in the code', () => {
  const { messaging, throttle, requestsPerMinute, accessTrail, logRetention } = settingsOf('prod')
  const number = (value: number) => value.toLocaleString('en')
  const messages = read('docs/messages.md')
  expect(messages).toContain(`| SMS per day | ${number(messaging.smsPerDay)} |`)
  expect(messages).toContain(`| emails per day | ${number(messaging.emailsPerDay)} |`)
  expect(messages).toContain(`to one number or address | ${messaging.messagesPerRecipient} |`)
  expect(messages).toContain(`| price of an SMS | ${messaging.smsMaxPrice} USD |`)
  const limits = read('docs/rate-limits.md')
  expect(limits).toContain(
    `${requestsPerMinute} in production and ${number(settingsOf('dev').requestsPerMinute)} in development`,
  )
  expect(limits).toContain(`${number(throttle.rate)}, with bursts of ${number(throttle.burst)}`)
  const retention = read('docs/retention.md')
  const trailDays = [accessTrail, settingsOf('dev').accessTrail].map((trail) =>
    number(trail.retention.toDays()),
  )
  expect(retention).toContain(`${trailDays[0]} days in production, ${trailDays[1]} in development`)
  expect(retention).toContain(`| logs, without data of patients | ${logRetention} days |`)
  expect(retention).toContain(`their attempts | ${RETENTION_SECONDS / 86_400} days |`)
  expect(retention).toContain(`#idempotency) | ${RESPONSE_TTL_SECONDS / 3600} hours |`)
  expect(read('docs/guides/errors-and-idempotency.md')).toContain(`For ${RESPONSE_TTL_SECONDS / 3600} hours`)
  expect(retention).toContain(`#verify-signatures) | ${SECRET_OVERLAP_MS / 3_600_000} hours |`)
  expect(retention).toContain(`hash of the recipient | ${QUOTA_SECONDS / 86_400} days |`)
  expect(retention).toContain(`#backups) | ${BACKUP_RETENTION.toDays()} days`)
  const webhooks = read('docs/webhooks.md')
  const delays = RETRY_DELAYS_MS.map(formatDuration)
  expect(webhooks).toContain(`${delays.slice(0, -1).join(', ')} and ${delays.at(-1)}`)
  expect(webhooks).toContain(`the latest ${MAX_STORED_ATTEMPTS} attempts`)
  expect(webhooks).toContain(`at most ${MAX_WEBHOOKS}.`)
  expect(webhooks).toContain(`For ${SECRET_OVERLAP_MS / 3_600_000} hours, deliveries have two signatures`)
  expect(DISABLE_AFTER_MS).toBe(5 * 86_400_000)
  expect(webhooks).toContain('failures only, for five days')
  expect(read('docs/operate/restore.md')).toContain(`daily, kept for ${BACKUP_RETENTION.toDays()} days`)
  expect(read('docs/import.md').replaceAll('\n', ' ')).toContain(
    `${MAX_CATALOGUE.department} departments, ${MAX_CATALOGUE.room} rooms, ${MAX_HOLIDAYS} holidays, ` +
      `${number(MAX_CATALOGUE.treatment)} treatments, ${MAX_CATALOGUE['price list']} price lists with 20,000 prices together, ` +
      `and ${MAX_ACTIVE_DOCTORS} active doctors`,
  )
  const api = read('docs/api.md').replaceAll('\n', ' ')
  for (const text of [
    `\`page\` (1 to ${number(MAX_PAGE)}, default 1) and \`limit\` (1 to ${MAX_LIMIT},`,
    `at most ${MAX_LINE_BYTES} bytes of UTF-8 per patient`,
    `at most ${MAX_RANGE_DAYS} days with at most ${number(MAX_UNCOUNTED_ROWS)} records`,
    `${MIN_DURATION} to ${MAX_DURATION} minutes`,
    `at most ${MAX_AVAILABILITY_DAYS} days; each slot`,
    `up to ${MAX_TREATMENTS} treatments of one appointment`,
    `1 to ${number(MAX_SLOTS)}, by default ${number(MAX_SLOTS)}`,
    `the following ${ALTERNATIVE_DAYS} days`,
  ])
    expect(api).toContain(text)
})

it.each(
  [...read('docs/guides/pages-and-search.md').matchAll(/^\| .+ \| (.+) \| (`.+`) \|$/gm)].flatMap(
    ([, name = '', queries = '']) =>
      queries.split('`, `').map((query) => [query.replaceAll('`', ''), name] as const),
  ),
)('the search for %s finds %s, as the guide says', (query, name) => {
  const needles = parseSearchQuery(query)
  expect(needles && lineMatches(searchLine(name, null, null), needles)).toBe(true)
})

it('docs/benchmarks.md has the bounds of the bench', () => {
  const benchmarks = read('docs/benchmarks.md').replaceAll('\n', ' ')
  const number = (value: number) => value.toLocaleString('en')
  expect(ROUND_TRIPS).toBe(3)
  for (const text of [
    `at most ${number(bundleBound('get-me'))} bytes, minified, and ${number(bundleBound('send-message'))}`,
    `an invoice takes at most ${WRITE_UNITS.invoice} write units`,
    `about ${Math.floor(uncountedBound(5_000).units / 10) * 10} units for 5,000 rows`,
    `at most ${DELIVERY_UNITS.delivery.writes} write units`,
    `and ${DELIVERY_UNITS.retriedDelivery.writes} if its first attempt fails`,
    `at most ${MAX_IMPORT.milliseconds} ms of CPU time for each row, its start included, and ${MAX_IMPORT.megabytes} MB`,
  ])
    expect(benchmarks).toContain(text)
})

it('docs/proofs.md and docs/coming-from-wioclinic.md count the calls of the published client', () => {
  const proofs = read('docs/proofs.md')
  const calls: { call: string }[] = JSON.parse(read('test/judges/published-client/requests.json'))
  const methods = new Set(calls.map(({ call }) => call.split(' ')[0] ?? ''))
  expect(proofs).toContain(`${calls.length} calls of its ${methods.size} methods`)
  const rows = read('docs/coming-from-wioclinic.md').matchAll(/^\| `([\w.]+)\(/gm)
  expect([...rows].map(([, method]) => method).sort()).toEqual([...methods].sort())
})

const formatDuration = (ms: number): string =>
  ms < 60_000 ? `${ms / 1000} s` : ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`

it('programs for integrators need no casts, and correct no values of the API', () => {
  const samples = DOCUMENTS.flatMap(blocksOf).filter(({ language }) => language === 'ts')
  const programs = [...samples.map(({ text }) => text), ...globSync('docs/examples/*.ts').map(read)]
  expect(programs.length).toBeGreaterThan(5)
  expect(programs.filter((text) => /\.replace\(|[\w)\]] as (?!const\b)/.test(code(text)))).toEqual([])
})

/** A program without its comments. */
const code = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')

it('docs/changelog.md dates the removal of every deprecated path, at least twelve months ahead', () => {
  const changelog = read('docs/changelog.md')
  const api = read('docs/api.md')
  const deprecated = ROUTES.flatMap(({ deprecated, method, path }) =>
    deprecated ? [{ ...deprecated, method, path }] : [],
  )
  expect(deprecated.length).toBeGreaterThan(0)
  for (const { since, sunset, method, path } of deprecated) {
    const [, section = ''] = changelog.split(`\n${since}\n`)
    const [entry] = section.split('\n## ')
    expect(entry).toContain(`removal on ${sunset}`)
    expect(entry).toContain(`\`${method} ${path}\``)
    expect(api).toContain(`| \`${method} ${path}\` |`)
    expect(api).toContain(`will be removed on ${sunset}`)
    expect(Date.parse(sunset) - Date.parse(since)).toBeGreaterThanOrEqual(365 * 86_400_000)
  }
})

it('docs/changelog.md names the fields and headers that are new since the last release', () => {
  const { components } = JSON.parse(read('docs/openapi.json'))
  const released = JSON.parse(read('docs/openapi.released.json')).components
  const isNew = (name: string, before: object = {}) => !Object.hasOwn(before, name)
  type Schemas = Record<string, { properties?: object }>
  const fields = Object.entries(components.schemas as Schemas).flatMap(([name, { properties = {} }]) =>
    isNew(name, released.schemas)
      ? []
      : Object.keys(properties).filter((field) => isNew(field, released.schemas[name].properties)),
  )
  const headers = Object.keys(components.headers).filter((name) => isNew(name, released.headers))
  const [, unreleased = ''] = /\n## Unreleased\n([\s\S]*?)\n## /.exec(read('docs/changelog.md')) ?? []
  expect([...fields, ...headers].filter((name) => !unreleased.includes(`\`${name}\``))).toEqual([])
})

it('docs/examples/nightly-export.ts has the decimals of every currency', () => {
  const groups = read('docs/examples/nightly-export.ts').matchAll(/\/([A-Z|]+)\/\.test.*? (\d)(?: : 2)?$/gm)
  const decimals = new Map(
    [...groups].flatMap(([, codes = '', digits]) =>
      codes.split('|').map((code) => [code, Number(digits)] as const),
    ),
  )
  expect(CURRENCIES.map((code) => [code, decimals.get(code) ?? 2])).toEqual(
    CURRENCIES.map((code) => [code, currencyDecimals(code)]),
  )
})

it('docs/operate/README.md describes what the production stack retains', () => {
  const template = templateOf('prod', { protection: 'on' })
  expect(Object.keys(template.findOutputs('*'))).toEqual(expect.arrayContaining(['BaseUrl', 'TableName']))
  template.hasResource('AWS::DynamoDB::Table', {
    DeletionPolicy: 'RetainExceptOnCreate',
    Properties: { DeletionProtectionEnabled: true },
  })
  template.hasResource('AWS::KMS::Key', { DeletionPolicy: 'RetainExceptOnCreate' })
})

describe('the checks of this file', () => {
  it('find the arguments of an operator command', () => {
    const text = 'npm run clinic -- --stack X doctor update ID --name "Dr. Lang"     # or failed\n'
    const block = { file: '', line: 1, language: 'sh', text, kind: 'operator' as const }
    expect(operatorCommands(block)).toEqual([['doctor', 'update', 'ID', '--name', 'Dr. Lang']])
  })

  it.each([
    [{ a: 1 }, { a: 1 }, true],
    [{ a: '…', '…': '…' }, { a: 2, b: 3 }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: 1 }, {}, false],
    [['…', '…'], [1, 2], true],
    [['…'], [1, 2], false],
    [{ a: 1 }, { a: '1' }, false],
    [[], {}, false],
  ])('match the example %j with %j: %s', (example, value, matches) => {
    expect(matchesExample(example, value)).toBe(matches)
  })
})
