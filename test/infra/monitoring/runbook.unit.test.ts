import { existsSync, globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ALARMS, canaryAlarm, smsSpendingAlarm } from '../../../infra/monitoring/alarm-table.ts'
import { NOTICES } from '../../../infra/monitoring/notices.ts'

const definitions = [...ALARMS, smsSpendingAlarm(1), canaryAlarm(5), ...NOTICES]
const pages = [...new Set(definitions.map(({ page }) => page))]

it.each(pages)('docs/operate/%s.md exists, and names its alarms', (page) => {
  const file = `docs/operate/${page}.md`
  expect(existsSync(file)).toBe(true)
  const text = readFileSync(file, 'utf8')
  const named = /^Alarms?: (.*)\.$/m.exec(text)?.[1]?.match(/[\w-]+/g)
  expect(named?.sort()).toEqual(
    definitions
      .filter((definition) => definition.page === page)
      .map(({ id }) => id)
      .sort(),
  )
  for (const heading of ['What it means', 'What to look at', 'What to do'])
    expect(text).toContain(`## ${heading}\n`)
})

it('docs/operate/README.md lists every alarm with its page, and every page', () => {
  const text = readFileSync('docs/operate/README.md', 'utf8')
  const [, promises = ''] = text.split('### Promises to integrators')
  const promised = promises.split('## Dashboard')[0]?.match(/(?<=\| .*)`[a-z-]+`(?=.* \|$)/gm) ?? []
  expect(promised.length).toBeGreaterThan(8)
  const ids = definitions.map(({ id }) => `\`${id}\``)
  expect(promised.filter((id) => !ids.includes(id))).toEqual([])
  for (const { id, page } of definitions) expect(text).toMatch(new RegExp(`\`${id}\`.*\\(${page}\\.md\\)`))
  const linked = globSync('docs/operate/*.md').filter(
    (file) => !/README/.test(file) && !text.includes(`(${file.replace('docs/operate/', '')}`),
  )
  expect(linked).toEqual([])
})
