/** README.md, CONTRIBUTING.md and docs/ agree with the code. test/e2e/guides.test.ts runs their programs. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importEntities } from '../bin/clinic/import/entities/entities.ts'
import { generatedFiles } from '../bin/generated-files.ts'
import { MAX_STORED_ATTEMPTS, RETENTION_SECONDS } from '../shared/domain/webhooks/delivery.ts'
import { MAX_WEBHOOKS, RETRY_DELAYS_MS } from '../shared/domain/webhooks/webhook.ts'
import { COMMANDS, WHOLE_CLINIC_COMMANDS } from '../shared/operator/commands.ts'
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

it('docs/benchmarks/bundles.md has a line for every function', () => {
  const lines = read('docs/benchmarks/bundles.md').matchAll(/^\| ([\w-]+) \| [\d,]+ \|/gm)
  const functions = globSync('functions/**/*.ts').map((file) => basename(file, '.ts'))
  expect([...lines].map(([, name]) => name).sort()).toEqual(functions.sort())
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

it('the documented limits equal the limits in the code', () => {
  const { messaging, throttle, requestsPerMinute, accessTrail, logRetention } = settingsOf('prod')
  const number = (value: number) => value.toLocaleString('en')
  const messages = read('docs/messages.md')
  expect(messages).toContain(`| SMS per day | ${number(messaging.smsPerDay)} |`)
  expect(messages).toContain(`| emails per day | ${number(messaging.emailsPerDay)} |`)
  expect(messages).toContain(`| price of an SMS | ${messaging.smsMaxPrice} USD |`)
  const api = read('docs/api.md')
  expect(api).toContain(
    `${requestsPerMinute} in production and ${number(settingsOf('dev').requestsPerMinute)} in development`,
  )
  expect(api).toContain(`${number(throttle.rate)}, with bursts of ${number(throttle.burst)}`)
  const retention = read('docs/retention.md')
  const trailDays = [accessTrail, settingsOf('dev').accessTrail].map((trail) =>
    number(trail.retention.toDays()),
  )
  expect(retention).toContain(`${trailDays[0]} days in production, ${trailDays[1]} in development`)
  expect(retention).toContain(`| logs, without data of patients | ${logRetention} days |`)
  expect(retention).toContain(`their attempts | ${RETENTION_SECONDS / 86_400} days |`)
  const webhooks = read('docs/webhooks.md')
  const delays = RETRY_DELAYS_MS.map(formatDuration)
  expect(webhooks).toContain(`${delays.slice(0, -1).join(', ')} and ${delays.at(-1)}`)
  expect(webhooks).toContain(`the latest ${MAX_STORED_ATTEMPTS} attempts`)
  expect(webhooks).toContain(`at most ${MAX_WEBHOOKS}.`)
})

const formatDuration = (ms: number): string =>
  ms < 60_000 ? `${ms / 1000} s` : ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`

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
  it('find the words and options of an operator command', () => {
    const text = 'npm run clinic -- message resolve ID --clinic ID --as sent     # or failed\n'
    const block = { file: '', line: 1, language: 'sh', text, kind: 'operator' as const }
    expect(operatorCommands(block)).toEqual([
      { words: ['message', 'resolve'], options: ['--clinic', '--as'] },
    ])
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
