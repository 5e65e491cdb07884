/** The documentation in a real browser, on the synthesized stack, with a demo clinic behind its console. */
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { endpointsOf } from '../../shared/openapi/read-document.ts'
import { newVisit, startBrowser } from '../support/browser.ts'
import { document, resolveRef } from '../support/conformance.ts'
import { get, type RunningStack, runStack } from '../support/local-stack.ts'
import { rounds } from '../support/scale.ts'

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }
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
  // On a busy machine, the console takes half a minute.
  visited.page.setDefaultTimeout(90_000)
  await visited.page.goto(`${origin}${path}`)
  return visited
}

const open = (page: Page): Locator => page.locator('.opblock.is-open').first()
const answer = (page: Page): Locator => page.locator('.live-responses-table .response').first()
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

async function execute(page: Page): Promise<void> {
  await open(page).locator('.execute').click()
  await answer(page).waitFor()
}

it('supports finding an endpoint and sending a request with the keyboard alone', async () => {
  const [patient] = (await get(stack, '/patients?limit=1')).body.data
  const { page } = await visit()
  await page.keyboard.press('/')
  await page.keyboard.type('list patients')
  await page.locator('#found a', { hasText: 'List patients' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/reference/list-patients')
  await tabTo(page, /^credential/, 10)
  await page.keyboard.insertText(credential())
  await tabTo(page, /^Try it/, 100)
  await page.keyboard.press('Enter')
  await page.locator('.opblock-summary-control:focus').waitFor()
  expect(await focused(page)).toEqual({ text: expect.stringContaining('/patients'), outline: 3 })
  await open(page).locator('input[placeholder=search]:enabled').waitFor()
  await tabTo(page, /^search$/, 10)
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(patient.full_name)
  await tabTo(page, /^btn execute/, 20)
  await page.keyboard.press('Enter')
  await answer(page).waitFor()
  const shown = await answer(page).innerText()
  expect(shown).toContain(patient.id)
  expect(shown).toContain('ratelimit')
})

it("fills the console with ids of the credential's clinic", async () => {
  const own = (await get(stack, '/patients?limit=1')).body.data[0].id
  const { page } = await visit('/docs/console#/Patients/get-patient')
  await page.locator('#credential').fill(credential())
  await expect.poll(() => open(page).locator('input[placeholder=id]').inputValue()).toBe(own)
  await execute(page)
  expect(await answer(page).innerText()).toMatch(/^200/)
})

it('shows samples with the address of the server, the credential and the language that was chosen', async () => {
  const { page } = await visit('/docs/reference/create-appointment')
  await page.locator('#credential').fill(`Authorization: Developer ${credential()} `)
  await page.getByLabel('Python', { exact: true }).check()
  await page
    .locator('nav a', { hasText: 'Create a patient' })
    .evaluate((link) => (link as { click(): void }).click())
  const sample = page.locator('figure.python')
  await sample.waitFor()
  expect(await sample.innerText()).toContain(`base_url="${stack.api}"`)
  expect(await sample.innerText()).toContain(`credential="${credential()}"`)
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
  for (const path of [
    ...endpoints.map((id) => `/reference/${id}`),
    '',
    '/errors',
    '/api',
    '/guides/booking',
  ]) {
    await page.goto(`${stack.baseUrl}/docs${path}`)
    if ((await widthOf(page)) > 360) wide.push(path)
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
      '/console#/Patients/create-patient',
    ]) {
      await page.goto(`${stack.baseUrl}/docs${path}`)
      if (path.startsWith('/console')) await open(page).locator('.execute').waitFor()
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

it('uses the console on a phone', async () => {
  const { page } = await visit('/docs/console#/Patients/list-patients', PHONE)
  await page.locator('#credential').fill(credential())
  await open(page).locator('.execute').tap()
  await answer(page).waitFor()
  expect(await answer(page).innerText()).toContain('full_name')
  expect(await widthOf(page)).toBe(360)
})

it('is readable without JavaScript', async () => {
  const { page } = await visit('/docs/reference/create-appointment', { javaScriptEnabled: false })
  expect(await page.locator('main').innerText()).toContain('patient_id')
  await page.getByText('TypeScript', { exact: true }).click()
  expect(await page.locator('figure.ts').innerText()).toContain('appointments.book')
  await page.locator('nav summary', { hasText: 'Details' }).click()
  await page.getByRole('link', { name: 'Errors', exact: true }).click()
  await page.locator('tr', { hasText: 'slot_unavailable' }).waitFor()
})

it('loads less than 200 kB before the console, and less than 10 kB on a second visit', async () => {
  const { page, weight } = await visit('/docs/reference/create-appointment')
  await page.locator('#search').fill('cancel')
  await page.locator('#found a').first().waitFor()
  expect(weight.bytes).toBeLessThan(200_000)
  const before = weight.bytes
  await page.goto('about:blank')
  await page.goto(`${stack.baseUrl}/docs/reference/create-appointment`)
  expect(weight.bytes - before).toBeLessThan(10_000)
})

it('has examples of ids that the demo clinic has, except of webhook endpoints', async () => {
  const paths = Object.entries(document.paths).flatMap(([path, { get: operation }]) =>
    (operation?.parameters ?? [])
      .map(resolveRef)
      .filter((parameter) => parameter.in === 'path' && !path.startsWith('/webhooks/'))
      .map(({ name, example }) => path.replace(`{${name}}`, String(example))),
  )
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
  const { page } = await visit('/dev/docs/console#/Patients/list-patients', {}, [], origin)
  await page.locator('#credential').fill(credential())
  await open(page).locator('.execute').click()
  expect(await answer(page).innerText()).toMatch(/^200/)
  await page.getByRole('link', { name: 'Clinic Developer API' }).click()
  await page.waitForURL(`${origin}/dev/docs`)
  await page.getByRole('link', { name: 'Book an appointment' }).first().click()
  const sample = await page.locator('figure.sh').innerText()
  expect(sample).toContain(`${origin}/dev/api/developer/v1/appointments`)
})

/** Their texts are compared in every run. The pictures differ a little with every font that is installed. */
it('has the texts of the screenshots in docs/screenshots, which `npm run prove` takes', async () => {
  const isTaking = rounds(0, 1) === 1
  const texts: Record<string, string> = {}
  const take = async (page: Page, name: string) => {
    texts[name] = (await page.locator('main').innerText()).slice(0, 600)
    if (isTaking) await save(page, name)
  }
  const save = async (page: Page, name: string) => {
    const path = join(SCREENSHOTS, `${name}.png`)
    await page.screenshot({ path })
    expect(statSync(path).size).toBeLessThan(300_000)
  }
  const light = await visit('/docs/reference/create-appointment', { viewport: { width: 1400, height: 900 } })
  await take(light.page, 'reference-light')
  const dark = await visit('/docs/reference/list-patients', { colorScheme: 'dark' })
  await take(dark.page, 'reference-dark')
  await take((await visit('/docs/reference/create-patient', PHONE)).page, 'reference-phone')
  await take((await visit('/docs/errors')).page, 'errors')
  const shown = `${JSON.stringify(texts, null, 2)}\n`
  if (!isTaking) return expect(shown).toBe(readFileSync(TEXTS, 'utf8'))
  writeFileSync(TEXTS, shown)
  const used = await visit('/docs/console#/Patients/list-patients', PHONE)
  await used.page.locator('#credential').fill(credential())
  await execute(used.page)
  await used.page.locator('.live-responses-table').first().waitFor()
  await used.page.evaluate("document.querySelector('.live-responses-table').scrollIntoView()")
  await save(used.page, 'reference-phone-response')
})
