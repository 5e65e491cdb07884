/** The documentation in a real browser, on the synthesized stack, with a demo clinic behind Try it. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { endpointsOf } from '../../shared/openapi/read-document.ts'
import { newVisit, startBrowser } from '../support/browser.ts'
import { document, resolveRef } from '../support/document-conformance.ts'
import { get, type RunningStack, runStack } from '../support/local-stack.ts'
import { rounds } from '../support/scale.ts'

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }
/** Pages with wide tables. */
const WITH_TABLES = [
  '/api',
  '/guides/messages',
  '/coming-from-wioclinic',
  '/webhooks',
  '/import',
  '/clients/mcp',
]
const SCREENSHOTS = 'docs/screenshots'
const TEXTS = join(SCREENSHOTS, 'texts.json')

let stack: RunningStack
let browser: Browser

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([runStack(), startBrowser()])
})
afterAll(() => Promise.all([browser?.close(), stack?.close()]))

const credential = () => stack.clinics[0]?.credentials.full ?? ''

/** Opens a page. The test fails if the browser reports any other problem. */
async function visit(
  path = '/docs',
  options: Parameters<typeof newVisit>[2] = {},
  expected: readonly string[] = [],
  origin = stack.baseUrl,
) {
  const visited = await newVisit(browser, origin, options)
  onTestFinished(async () => {
    await visited.page.context().close()
    expect(visited.complaints).toEqual(expected)
  })
  // On a busy machine, a page takes half a minute.
  visited.page.setDefaultTimeout(90_000)
  const questions: string[] = []
  visited.page.on('dialog', (dialog) => {
    questions.push(dialog.message())
    void dialog.accept()
  })
  await visited.page.goto(`${origin}${path}`)
  return { ...visited, questions }
}

const status = (page: Page): Locator => page.locator('.try [role=status]')
const response = (page: Page): Locator => page.locator('.try figure code').first()
const widthOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth')

const endpoints = endpointsOf(document.paths as never).map(({ operation }) => operation.operationId)

/** The focused element, and the width of its focus outline. */
const focused = (page: Page) =>
  page.evaluate<{ text: string; outline: number }>(`(() => {
    const { activeElement } = document
    const { outlineStyle, outlineWidth } = getComputedStyle(activeElement)
    return {
      text: [activeElement.id, activeElement.className, activeElement.placeholder, activeElement.innerText].filter(Boolean).join(' '),
      outline: outlineStyle === 'none' ? 0 : parseFloat(outlineWidth),
    }
  })()`)

/** Presses Tab until a matching element has the focus. Every stop on the way must have a visible outline. */
async function tabTo(page: Page, wanted: RegExp, limit: number): Promise<void> {
  const passed: string[] = []
  while (passed.length < limit) {
    await page.keyboard.press('Tab')
    const { text, outline } = await focused(page)
    expect([text, outline >= 2]).toEqual([text, true])
    if (wanted.test(text)) return
    passed.push(text)
  }
  throw new Error(`Tab does not lead to ${wanted}, but to ${passed.join('; ')}.`)
}

/** Opens Try it, which sends a GET at once. */
async function tryIt(page: Page): Promise<void> {
  await page.locator('#credential').fill(credential())
  await page.locator('#try').click()
  await status(page).getByText(/^200 /).waitFor()
}

it('supports finding an endpoint and sending a request with the keyboard alone', async () => {
  const [patient] = (await get(stack, '/patients?limit=1')).body.data
  const { page } = await visit()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('list patients')
  await page.locator('#found a', { hasText: 'List patients' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/reference/list-patients*')
  await tabTo(page, /^credential/, 10)
  await page.keyboard.insertText(credential())
  await tabTo(page, /^try/, 100)
  await page.keyboard.press('Enter')
  await status(page).getByText(/^200 /).waitFor()
  await tabTo(page, /^Optional parameters/, 10)
  await page.keyboard.press('Enter')
  for (let stops = 0; stops < 10; stops++) {
    await page.keyboard.press('Tab')
    if (await page.evaluate<boolean>("document.activeElement.name === 'search'")) break
  }
  await page.keyboard.insertText(patient.full_name)
  await page.keyboard.press('Enter')
  const found = async () => JSON.parse(await response(page).innerText())
  await expect.poll(async () => (await found()).meta.total).toBeLessThan(20)
  expect((await found()).data).toContainEqual(expect.objectContaining({ id: patient.id }))
})

it('shows the section, the line and the words of the first results', async () => {
  const { page } = await visit('/docs/errors')
  await page.locator('#search').fill('recurring')
  const first = page.locator('#found li').first()
  await first.locator('strong', { hasText: 'Recurring' }).waitFor()
  expect(await first.innerText()).toMatch(/› Not offered[\s\S]+waiting lists/)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/api#not-offered')
})

it("sends ids of the credential's clinic", async () => {
  const own = (await get(stack, '/patients?limit=1')).body.data[0].id
  const { page } = await visit('/docs/reference/get-patient')
  await tryIt(page)
  expect(JSON.parse(await response(page).innerText()).data.id).toBe(own)
})

it('applies an action to an appointment whose status allows it', async () => {
  const { page } = await visit()
  await page.locator('#credential').fill(credential())
  for (const action of ['confirm', 'check-in', 'complete', 'reopen', 'cancel']) {
    await page.goto(`${stack.baseUrl}/docs/reference/${action}-appointment`)
    await page.locator('#try').click()
    await page.locator('.send').click()
    await status(page).getByText('200 OK').waitFor()
  }
})

it('says that a list has no records instead of sending the id of the sample', async () => {
  const { page } = await visit('/docs/reference/get-webhook')
  await page.locator('#credential').fill(credential())
  await page.locator('#try').click()
  await status(page).getByText('GET /webhooks returned no records: enter an id.').waitFor()
  expect(await page.locator('.try [name=id]').inputValue()).toBe('')
})

it('books the first free slot when nothing is changed, after one question, and names the page of an error', async () => {
  const { page, questions } = await visit('/docs/reference/create-appointment', {}, [
    'console: Failed to load resource: the server responded with a status of 422 (Unprocessable Entity)',
  ])
  await page.locator('#try').click()
  await status(page).getByText('Paste a credential').waitFor()
  await page.locator('#credential').fill(credential())
  await page.locator('.send').click()
  await status(page).getByText('201 Created').waitFor()
  const { appointment_date, doctor } = JSON.parse(await response(page).innerText()).data
  expect(appointment_date >= new Date().toISOString().slice(0, 10)).toBe(true)
  expect((await get(stack, `/doctors/${doctor.id}`)).body.data.is_active).toBe(true)
  await page.locator('.try textarea').fill('{"patient": "x"}')
  for (const sample of ['.sh', '.ts', '.python'])
    expect(await page.locator(`aside ${sample}`).textContent()).toMatch(/"?patient"?: ["']x["']/)
  await page.locator('.send').click()
  expect(await page.getByRole('link', { name: 'What to do' }).getAttribute('href')).toMatch(
    /errors#validation$/,
  )
  expect(questions).toEqual([expect.stringContaining('Bosphorus Family Clinic is not a test clinic.')])
})

it('copies a request that books, with the address and the whole credential, of which the screen shows the key', async () => {
  const permissions = ['clipboard-read', 'clipboard-write']
  const { page } = await visit('/docs/reference/create-appointment', { permissions })
  const day = /"appointment_date": "(.+?)"/.exec((await page.locator('aside .sh').textContent()) ?? '')?.[1]
  expect(Date.parse(day ?? '') - Date.now()).toBeLessThan(4 * 86_400_000)
  await page.locator('#credential').fill(credential())
  await page.locator('#try').click()
  const isFilled = async () => (await page.locator('aside .sh').textContent())?.includes('2030') === false
  await expect.poll(isFilled).toBe(true)
  await expect.poll(() => status(page).textContent()).toBe('')
  await page.locator('aside .sh .copy').click()
  await page.getByText('Copied').waitFor()
  const copied = await page.evaluate<string>('navigator.clipboard.readText()')
  const { stdout } = await promisify(execFile)('sh', ['-c', copied])
  expect(JSON.parse(stdout).data.status).toBe('scheduled')
  const mask = "getComputedStyle(document.querySelector('aside .sh .masked')).webkitTextSecurity"
  expect(await page.evaluate(mask)).toBe('disc')
})

it('keeps the other theme until it is switched back to that of the system', async () => {
  const { page } = await visit('/docs')
  const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  const light = await ground()
  await page.locator('#theme').click()
  const dark = await ground()
  await page.goto(`${stack.baseUrl}/docs/errors`)
  expect([await ground(), dark === light]).toEqual([dark, false])
  await page.locator('#theme').click()
  expect(await ground()).toBe(light)
})

it('shows a linked field below the header on a phone', async () => {
  const { page } = await visit('/docs/reference/list-events#query-after', PHONE)
  const top = (selector: string) =>
    page.evaluate<{ y: number; bottom: number }>(
      `(({ y, bottom }) => ({ y, bottom }))(document.querySelector('${selector}').getBoundingClientRect())`,
    )
  await expect.poll(async () => (await top('#query-after')).y).toBeLessThan(300)
  expect((await top('#query-after')).y).toBeGreaterThanOrEqual((await top('header')).bottom)
  await page.evaluate('scrollTo(0, 0)')
  await expect.poll(async () => (await top('header')).y).toBe(0)
  expect((await top('header')).bottom).toBeLessThanOrEqual(80)
})

it('shows a page with the search for an address that does not exist', async () => {
  const failed = 'console: Failed to load resource: the server responded with a status of 404 (Not Found)'
  const { page } = await visit('/docs/guides/deep/nothing', {}, [failed])
  await page.locator('#search').fill('oauth')
  await page.locator('#found strong').first().waitFor()
  const links = page.getByRole('main').getByRole('link')
  expect(await links.last().getAttribute('href')).toBe('../../../docs')
  // The results are above the links.
  await page.keyboard.press('Escape')
  await links.first().click()
  await page.waitForURL('**/docs/guides/quickstart')
})

it('shows samples with the address of the server, the credential and the language that was chosen', async () => {
  const { page } = await visit('/docs/reference/create-appointment')
  await page.locator('#credential').fill(`Authorization: Developer ${credential()} `)
  await page.getByRole('button', { name: 'Python' }).click()
  await page
    .locator('.menu a', { hasText: 'Create a patient' })
    .evaluate((link) => (link as { click(): void }).click())
  const sample = page.locator('figure.python')
  await sample.waitFor()
  expect(await sample.innerText()).toContain(`base_url="${stack.api}"`)
  expect(await sample.textContent()).toContain(`credential="${credential()}"`)
  expect(await page.locator('figure.sh').isVisible()).toBe(false)
  // The credential is gone with the tab.
  expect(await page.evaluate<string>('Object.keys(localStorage).concat(document.cookie).join()')).toBe(
    'language,',
  )
})

it('shows every endpoint on at most two screens, as wide as a phone too', async () => {
  const { page } = await visit('/docs', { viewport: { width: 1400, height: 900 } })
  const tall: string[] = []
  for (const id of endpoints) {
    await page.goto(`${stack.baseUrl}/docs/reference/${id}`)
    const height = await page.evaluate<number>(
      "document.querySelector('main').getBoundingClientRect().height",
    )
    if (height > 1800) tall.push(`${id}: ${Math.round(height)}`)
  }
  expect(tall).toEqual([])
  await page.setViewportSize({ width: 360, height: 740 })
  const wide: string[] = []
  const paths = [...endpoints.map((id) => `/reference/${id}`), '', '/errors', '/guides/booking']
  for (const path of [...paths, ...WITH_TABLES]) {
    await page.goto(`${stack.baseUrl}/docs${path}`)
    const isCut =
      "[...document.querySelectorAll('.wide')].some((table) => table.scrollWidth > table.clientWidth)"
    if ((await widthOf(page)) > 360 || (await page.evaluate(isCut))) wide.push(path)
  }
  expect(wide).toEqual([])
})

it('meets WCAG 2.2 AA in both colour schemes and on a phone', async () => {
  const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
  const violations: unknown[] = []
  for (const options of [{ colorScheme: 'light' }, { colorScheme: 'dark' }, PHONE] as const) {
    const { page } = await visit('/docs', options)
    for (const path of [
      '',
      '/reference/create-appointment',
      '/reference/list-patients',
      '/events/patient.created',
      '/guides/booking',
      '/clients/python',
      '/api',
      '/errors',
      '/404',
      '/reference/get-patient',
    ]) {
      await page.goto(`${stack.baseUrl}/docs${path}`)
      if (path === '/reference/get-patient') await tryIt(page)
      if (path === '/errors') await page.locator('#search').fill('cancel')
      if (path === '/errors') await page.locator('#found strong').first().waitFor()
      await page.evaluate(axe)
      const found = await page.evaluate<
        object[]
      >(`axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] })
        .then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.slice(0, 3).map(({ html }) => html) })))`)
      violations.push(...found.map((violation) => ({ path, options, violation })))
    }
  }
  expect(violations).toEqual([])
}, 300_000)

it('sends a request on a phone', async () => {
  const { page } = await visit('/docs/reference/list-patients', PHONE)
  await tryIt(page)
  expect(await response(page).innerText()).toContain('full_name')
  expect(await widthOf(page)).toBe(360)
})

it('is readable without JavaScript', async () => {
  const { page } = await visit('/docs/reference/create-appointment', { javaScriptEnabled: false })
  expect(await page.locator('main').innerText()).toContain('patient_id')
  expect(await page.locator('figure.ts').innerText()).toContain('appointments.book')
  expect(await page.locator('figure.python').innerText()).toContain('appointments.book')
  expect(await page.locator('button:visible').count()).toBe(0)
  await page.locator('.menu summary', { hasText: 'Details' }).click()
  await page.locator('.menu').getByRole('link', { name: 'Errors', exact: true }).click()
  await page.locator('tr', { hasText: 'slot_unavailable' }).waitFor()
})

it('loads less than 200 kB with the search, and less than 10 kB on a second visit', async () => {
  const { page, weight } = await visit('/docs/reference/create-appointment')
  await page.locator('#search').fill('cancel')
  // The pages of the first five results are loaded for their lines.
  await page.locator('#found li:nth-child(5) div').waitFor()
  await page.waitForLoadState('networkidle')
  expect(weight.bytes).toBeLessThan(200_000)
  const before = weight.bytes
  await page.goto('about:blank')
  await page.goto(`${stack.baseUrl}/docs/reference/create-appointment`)
  expect(weight.bytes - before).toBeLessThan(10_000)
})

it('has examples of ids that the demo clinic has, except of webhook endpoints and holds', async () => {
  const paths = Object.entries(document.paths).flatMap(([path, { get: operation }]) => {
    const parameters = (operation?.parameters ?? []).map(resolveRef)
    if (parameters.some((parameter) => parameter.in === 'query' && parameter.required)) return []
    return parameters
      .filter((parameter) => parameter.in === 'path' && !/^\/(webhooks|holds)\//.test(path))
      .map(({ name, example }) => path.replace(`{${name}}`, String(example)))
  })
  expect(paths.length).toBeGreaterThan(5)
  const statuses = await Promise.all(paths.map(async (path) => [path, (await get(stack, path)).status]))
  expect(statuses).toEqual(paths.map((path) => [path, 200]))
})

it('works below a stage name', async () => {
  const staged = createServer((asked, answered) => {
    const url = `${stack.baseUrl}${asked.url?.replace(/^\/dev(?=\/)/, '')}`
    const outside = !asked.url?.startsWith('/dev/')
    const passed = request(url, { method: asked.method, headers: asked.headers }, (response) => {
      answered.writeHead(outside ? 403 : (response.statusCode ?? 502), response.rawHeaders)
      response.pipe(answered)
    })
    asked.pipe(passed)
  }).listen(0, '127.0.0.1')
  await once(staged, 'listening')
  onTestFinished(() => void staged.close())
  const origin = `http://127.0.0.1:${(staged.address() as AddressInfo).port}`
  const { page } = await visit('/dev/docs/reference/list-patients', {}, [], origin)
  await tryIt(page)
  await page.getByRole('link', { name: 'Clinic Developer API' }).click()
  await page.waitForURL(`${origin}/dev/docs`)
  const sample = await page.locator('figure.sh').innerText()
  expect(sample).toContain(`${origin}/dev/api/developer/v1/clinic`)
})

/** Their texts are compared in every run. The pictures differ a little with every font that is installed. */
it('has the texts of the screenshots in docs/screenshots, which `npm run prove` takes', async () => {
  const isTaking = rounds(0, 1) === 1
  const texts: Record<string, string> = {}
  const take = async (page: Page, name: string) => {
    const text = await page.locator('main').innerText()
    texts[name] = text.replaceAll(stack.baseUrl, 'http://127.0.0.1:3000').slice(0, 600)
    if (isTaking) await save(page, name)
  }
  const save = async (page: Page, name: string) => {
    const path = join(SCREENSHOTS, `${name}.png`)
    await page.screenshot({ path })
    expect(statSync(path).size).toBeLessThan(320_000)
  }
  const wide = { width: 1440, height: 900 }
  await take((await visit('/docs', { viewport: wide })).page, 'home')
  await take(
    (await visit('/docs/reference/create-appointment', { viewport: { ...wide, width: 1400 } })).page,
    'reference-light',
  )
  const dark = await visit('/docs/reference/list-patients', { colorScheme: 'dark' })
  await take(dark.page, 'reference-dark')
  await take((await visit('/docs/reference/create-patient', PHONE)).page, 'reference-phone')
  await take((await visit('/docs/errors')).page, 'errors')
  const shown = `${JSON.stringify(texts, null, 2)}\n`
  if (!isTaking) return expect(shown).toBe(readFileSync(TEXTS, 'utf8'))
  writeFileSync(TEXTS, shown)
  const { page } = await visit('/docs/reference/list-patients', PHONE)
  await tryIt(page)
  await save(page, 'reference-phone-response')
})
