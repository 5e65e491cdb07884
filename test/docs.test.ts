/** README.md, CONTRIBUTING.md and docs/ agree with the code. test/e2e/guides.test.ts runs their programs. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { generatedFiles } from '../bin/generated-files.ts'
import { BACKUP_RETENTION } from '../infra/data/backup-stack.ts'
import { SETTING_NAMES } from '../infra/settings/settings.ts'
import { MAX_IDEMPOTENCY_KEY } from '../shared/api/error-catalogue.ts'
import { MAX_DETAILS, MAX_FIELD_LENGTH } from '../shared/api/errors.ts'
import { ROUTES } from '../shared/api/routes.ts'
import { DEADLINE_MS } from '../shared/delivery/webhooks/webhook-transport.ts'
import { MAX_AVAILABILITY_DAYS, MAX_DOCTOR_DAYS } from '../shared/domain/booking/availability.ts'
import { MAX_CATALOGUE } from '../shared/domain/booking/catalogue.ts'
import { MAX_ACTIVE_DOCTORS } from '../shared/domain/booking/doctor.ts'
import { MAX_HOLDS } from '../shared/domain/booking/hold.ts'
import { ALTERNATIVE_DAYS, MAX_DURATION, MAX_TREATMENTS } from '../shared/domain/booking/placement.ts'
import { MAX_RANGE_DAYS, MAX_UNCOUNTED_ROWS } from '../shared/domain/lists/paging.ts'
import { smsLength } from '../shared/domain/messages/sms-text.ts'
import { CURRENCIES, currencyDecimals } from '../shared/domain/money/currencies.ts'
import { lineMatches, parseSearchQuery, searchLine } from '../shared/domain/patients/search-text.ts'
import { RETENTION_SECONDS } from '../shared/domain/webhooks/delivery.ts'
import { SECRET_OVERLAP_MS } from '../shared/domain/webhooks/webhook.ts'
import { MAX_SECRET_BYTES } from '../shared/domain/webhooks/webhook-secret.ts'
import { MAX_BODY_BYTES } from '../shared/http/read-body.ts'
import { COMMANDS } from '../shared/operator/commands.ts'
import { COUNTED_DAYS } from '../shared/store/copies/doctor-changes.ts'
import { QUOTA_SECONDS } from '../shared/store/messages/quotas.ts'
import { RESPONSE_TTL_SECONDS } from '../shared/store/table/idempotency.ts'
import { VISIBILITY_DELAY_MS } from '../shared/store/table/visibility-delay.ts'
import { blocksOf, DOCUMENTS } from './support/documentation.ts'
import { settingsOf } from './support/template.ts'

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
  const ofAssistants = JSON.parse(read('shared/clients/mcp/package.json')).dependencies
  const client = JSON.parse(read('shared/clients/typescript/package.json')).devDependencies
  const documented = (heading: string) =>
    (read('docs/dependencies.md').split(`## ${heading}`)[1] ?? '')
      .split('\n## ')[0]
      ?.split('\n')
      .flatMap((line) => /^\| ([^|]+) \|/.exec(line)?.[1]?.split(', ') ?? [])
      .filter((name) => !/^(package|-+|typescript 5)$/.test(name))
      .sort()
  expect(documented('Runtime')).toEqual(Object.keys({ ...dependencies, ...ofAssistants }).sort())
  const { typescript: _, ...ofClient } = client
  expect(documented('Development')).toEqual(
    [...Object.keys(devDependencies), ...Object.keys(ofClient)].sort(),
  )
  expect(documented('Optional')).toEqual(Object.keys(optionalDependencies).sort())
})

/** Commands that read a whole clinic or the whole table, patients included. Their lines in the access trail have no ids of the records. */
const WHOLE_CLINIC_COMMANDS = [
  'export',
  'ids',
  'import',
  'verify',
  'clinic delete',
  'migrate',
  'restore clinic',
  'restore configure',
  'restore reconcile',
  'restore table',
]

it('docs/security.md queries the access trail for every command that reaches a whole clinic', () => {
  const [, listed = ''] = /command IN \(([^)]*)\)/.exec(read('docs/security.md')) ?? []
  expect([...listed.matchAll(/'([^']+)'/g)].map(([, name]) => name)).toEqual([...WHOLE_CLINIC_COMMANDS])
  for (const name of WHOLE_CLINIC_COMMANDS) expect(Object.keys(COMMANDS)).toContain(name)
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

it('docs/messages.md and docs/retention.md have tables with the limits of the code', () => {
  const { messaging, accessTrail, logRetention } = settingsOf('prod')
  const number = (value: number) => value.toLocaleString('en')
  const tables = {
    'docs/messages.md': [
      `| SMS per day | ${number(messaging.smsPerDay)} |`,
      `| emails per day | ${number(messaging.emailsPerDay)} |`,
      `to one number or address | ${messaging.messagesPerRecipient} |`,
      `| price of an SMS | ${messaging.smsMaxPrice} USD |`,
    ],
    'docs/retention.md': [
      `${number(accessTrail.retention.toDays())} days in production`,
      `| logs, without data of patients | ${logRetention} days |`,
      `their attempts | ${RETENTION_SECONDS / 86_400} days |`,
      `#idempotency) | ${RESPONSE_TTL_SECONDS / 3600} hours |`,
      `#verify-signatures) | they sign for ${SECRET_OVERLAP_MS / 3_600_000} hours`,
      `hash of the recipient | ${QUOTA_SECONDS / 86_400} days |`,
      `#backups) | ${BACKUP_RETENTION.toDays()} days`,
    ],
  }
  for (const [file, cells] of Object.entries(tables))
    for (const cell of cells) expect(read(file)).toContain(cell)
})

it.each([
  ...['docs/api.md', 'docs/import.md', 'docs/messages.md', 'docs/openapi.json'],
  ...['docs/guides/booking.md', 'docs/guides/messages.md'],
])('%s states no limit that the code does not have', (file) => {
  const [sms, unicodeSms] = ['a', 'ж'].map((text) => smsLength(text).max)
  const limits: Record<string, unknown[]> = {
    appointments: [MAX_UNCOUNTED_ROWS],
    bytes: [MAX_SECRET_BYTES],
    characters: [MAX_FIELD_LENGTH, MAX_IDEMPOTENCY_KEY, sms],
    days: [
      MAX_RANGE_DAYS,
      MAX_AVAILABILITY_DAYS,
      MAX_AVAILABILITY_DAYS - 1,
      ALTERNATIVE_DAYS,
      COUNTED_DAYS,
      RETENTION_SECONDS / 86_400,
    ],
    doctors: [MAX_ACTIVE_DOCTORS, MAX_DOCTOR_DAYS / MAX_AVAILABILITY_DAYS],
    holds: [MAX_HOLDS],
    hours: [RESPONSE_TTL_SECONDS / 3600, SECRET_OVERLAP_MS / 3_600_000],
    items: [MAX_DETAILS],
    KiB: [MAX_BODY_BYTES / 1024],
    minutes: [MAX_DURATION],
    records: [MAX_UNCOUNTED_ROWS],
    seconds: [VISIBILITY_DELAY_MS / 1000, DEADLINE_MS / 1000],
    treatments: [MAX_TREATMENTS, MAX_CATALOGUE.treatment],
    units: [unicodeSms],
  }
  const stated = read(file).matchAll(
    RegExp(
      `(\\d[\\d,]*(?<!,))\\s(?:(?!and|to|whose)[\\w-]+ ){0,2}(${Object.keys(limits).join('|')})\\b`,
      'g',
    ),
  )
  const isLimit = (digits = '', unit = '') => limits[unit]?.includes(Number(digits.replaceAll(',', '')))
  expect([...stated].filter(([, digits, unit]) => !isLimit(digits, unit)).map(([text]) => text)).toEqual([])
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

it('docs/coming-from-wioclinic.md lists the methods that the published client calls', () => {
  const calls: { call: string }[] = JSON.parse(read('test/conformance/published-client/requests.json'))
  const methods = new Set(calls.map(({ call }) => call.split(' ')[0] ?? ''))
  const rows = read('docs/coming-from-wioclinic.md').matchAll(/(?<=[|,:]\s)`([\w.]+)\(/g)
  expect([...rows].map(([, method]) => method).sort()).toEqual([...methods].sort())
})

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
  const [, newest = ''] = /\n## .*\n([\s\S]*?)\n## /.exec(read('docs/changelog.md')) ?? []
  expect([...fields, ...headers].filter((name) => !newest.includes(`\`${name}\``))).toEqual([])
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
