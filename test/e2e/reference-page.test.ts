/** The reference page in a real browser, on the synthesized stack, with a demo clinic behind its console. */
import { once } from 'node:events'
import { mkdirSync, statSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { newVisit, startBrowser } from '../support/browser.ts'
import { document, resolveRef } from '../support/conformance.ts'
import { get, type RunningStack, runStack, send } from '../support/local-stack.ts'
import { rounds } from '../support/scale.ts'

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }
const SCREENSHOTS = 'docs/screenshots'

let stack: RunningStack
let browser: Browser

beforeAll(async () => {
  ;[stack, browser] = await Promise.all([runStack(), startBrowser()])
})
afterAll(() => Promise.all([browser?.close(), stack?.close()]))

const credential = () => stack.clinics[0]?.credentials.full ?? ''

/** Opens the reference and waits for the console. The test fails if the browser reports any other problem. */
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
  await visited.page.goto(`${origin}${path}`)
  if (!path.includes('/docs/errors')) await visited.page.locator('.opblock').first().waitFor()
  return visited
}

const open = (page: Page): Locator => page.locator('.opblock.is-open').first()
const answer = (page: Page): Locator => page.locator('.live-responses-table .response').first()
const widthOf = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth')

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

async function execute(page: Page, link: string): Promise<void> {
  await page.locator('#credential').fill(credential())
  await page.goto(`${stack.baseUrl}/docs#/${link}`)
  await open(page).locator('.execute').click()
  await answer(page).waitFor()
}

it('supports finding an endpoint, entering a credential and sending a request with the keyboard alone', async () => {
  const [patient] = (await get(stack, '/patients?limit=1')).body.data
  const { page } = await visit()
  await tabTo(page, /^credential/, 10)
  await page.keyboard.insertText(credential())
  await tabTo(page, /^search/, 2)
  await page.keyboard.type('list patients')
  await tabTo(page, /GET \/patients/, 3)
  await page.keyboard.press('/')
  expect((await focused(page)).text).toMatch(/^search/)
  const count = await page.locator('#endpoints li').count()
  expect(await page.locator('#found').innerText()).toBe(`1 of ${count}`)
  await page.keyboard.press('Enter')
  await page.locator('.opblock-summary-control:focus').waitFor()
  expect(await focused(page)).toEqual({ text: expect.stringContaining('/patients'), outline: 3 })
  await open(page).locator('input[placeholder=search]:enabled').waitFor()
  await tabTo(page, /^search$/, 10)
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(patient.full_name)
  await tabTo(page, /^btn execute/, 5)
  await page.keyboard.press('Enter')
  const shown = await answer(page).innerText()
  expect(shown).toContain(patient.id)
  expect(shown).toContain('ratelimit')
})

it('opens the endpoint or event that the URL fragment names', async () => {
  const { page } = await visit('/docs#/Patients/get-patient')
  expect(await open(page).innerText()).toContain('/patients/{id}')
  await page.locator('#endpoints a', { hasText: 'patient.created' }).click()
  await page.locator('.opblock-summary-control:focus', { hasText: 'patient.created' }).waitFor()
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

it('accepts a credential with its scheme, and does not persist it', async () => {
  const rejected =
    'console: Failed to load resource: the server responded with a status of 401 (Unauthorized)'
  const { page } = await visit('/docs', {}, [rejected])
  await page.locator('#credential').fill(`Authorization: Developer ${credential()} `)
  await page.goto(`${stack.baseUrl}/docs#/Appointments/list-doctors`)
  await open(page).locator('.execute').click()
  expect(await answer(page).innerText()).toMatch(/^200/)
  await page.locator('#credential').fill('')
  await open(page).locator('.execute').click()
  await page.locator('.live-responses-table', { hasText: 'UNAUTHORIZED' }).waitFor()
  const kept = await page.evaluate<number>(
    'localStorage.length + sessionStorage.length + document.cookie.length',
  )
  expect(kept).toBe(0)
})

it('fits a phone screen, console included', async () => {
  const { page } = await visit('/docs', PHONE)
  expect(await widthOf(page)).toBe(360)
  await page.locator('#credential').fill(credential())
  await page.locator('#endpoints summary').tap()
  await page.locator('#endpoints a', { hasText: 'List patients' }).tap()
  await open(page).locator('.execute').tap()
  await answer(page).waitFor()
  expect(await answer(page).innerText()).toContain('full_name')
  for (const part of [open(page).locator('.execute'), answer(page)]) {
    const { x = 0, width = 0 } = (await part.boundingBox()) ?? {}
    expect(x >= 0 && x + width <= 360).toBe(true)
  }
  const summaries = page.locator('.opblock:not(.is-open) .opblock-summary-control')
  for (let count = rounds(3, 100); count > 0 && (await summaries.count()) > 0; count--)
    await summaries.first().tap()
  expect(await widthOf(page)).toBe(360)
  await page.goto(`${stack.baseUrl}/docs/errors`)
  expect(await widthOf(page)).toBe(360)
})

it('follows the colour scheme of the system, also when it changes', async () => {
  const { page } = await visit('/docs', { colorScheme: 'dark' })
  const isDark = (shade: number) => shade < 100
  const isBright = (shade: number) => shade > 200
  /** How bright the page and the text on it are, each from 0 to 255. */
  const colours = () =>
    page.evaluate<number[]>(`[
      getComputedStyle(document.body).backgroundColor,
      getComputedStyle(document.querySelector('.opblock-tag')).color,
    ].map((colour) => Math.max(...colour.match(/[\\d.]+/g).slice(0, 3).map(Number)))`)
  // The renderer animates its colours.
  await expect.poll(colours).toEqual([expect.toSatisfy(isDark), expect.toSatisfy(isBright)])
  await page.emulateMedia({ colorScheme: 'light' })
  await expect.poll(colours).toEqual([expect.toSatisfy(isBright), expect.toSatisfy(isDark)])
})

it('shows the error catalogue without JavaScript', async () => {
  const { page } = await visit('/docs/errors', { javaScriptEnabled: false })
  await page.locator('#slot_unavailable', { hasText: 'errors.developer_api.slot_unavailable' }).waitFor()
  await page.getByRole('link', { name: 'Reference' }).click()
  expect(page.url()).toBe(`${stack.baseUrl}/docs`)
  expect(await page.locator('#endpoints li').count()).toBeGreaterThan(30)
})

it('loads less than 560 kB, and less than 10 kB on a second visit', async () => {
  const { page, weight } = await visit()
  expect(weight.requests).toBe(6)
  expect(weight.bytes).toBeLessThan(560_000)
  const before = weight.bytes
  await page.goto('about:blank')
  await page.goto(`${stack.baseUrl}/docs`)
  await page.locator('.opblock').first().waitFor()
  expect(weight.bytes - before).toBeLessThan(10_000)
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
  const { page } = await visit('/dev/docs/#/Patients/list-patients', {}, [], origin)
  await page.locator('#credential').fill(credential())
  await open(page).locator('.execute').click()
  expect(await answer(page).innerText()).toMatch(/^200/)
  await page.getByRole('link', { name: 'Errors', exact: true }).click()
  await page.getByRole('link', { name: 'Reference' }).click()
  expect(page.url()).toBe(`${origin}/dev/docs`)
})

it('is public, while the API requires a credential', async () => {
  const tag = (await send(`${stack.baseUrl}/errors.json`)).headers.etag as string
  const kept = await fetch(`${stack.baseUrl}/errors.json`, { headers: { 'if-none-match': tag } })
  expect([kept.status, await kept.text()]).toEqual([304, ''])
  const head = await fetch(`${stack.baseUrl}/openapi.json`, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-encoding')]).toEqual([200, 'gzip'])
  const slash = await fetch(`${stack.baseUrl}/docs/`)
  expect([slash.status, slash.url]).toEqual([200, `${stack.baseUrl}/docs`])
  expect((await send(`${stack.api}/patients`)).status).toBe(401)
  expect((await send(`${stack.api}/docs`)).status).toBe(404)
  expect((await send(`${stack.baseUrl}/doc`)).body.message).toBe('errors.developer_api.route_not_found')
  expect((await send(`${stack.baseUrl}/docs`, { method: 'POST' })).status).toBe(405)
})

/** Pictures for docs/, of `npm run prove` alone: they differ a little with every font that is installed. */
it.runIf(rounds(0, 1) === 1)('takes the screenshots in docs/screenshots', async () => {
  mkdirSync(SCREENSHOTS, { recursive: true })
  const take = async (page: Page, name: string) => {
    const path = join(SCREENSHOTS, `${name}.png`)
    await page.screenshot({ path })
    expect(statSync(path).size).toBeLessThan(300_000)
  }
  const showAnswer = (page: Page) =>
    page.evaluate("document.querySelector('.live-responses-table').scrollIntoView()")
  const light = await visit('/docs#/Patients/list-patients')
  await light.page.locator('#credential').fill(credential())
  await light.page.locator('#credential').blur()
  await take(light.page, 'reference-light')
  const dark = await visit('/docs', { colorScheme: 'dark' })
  await execute(dark.page, 'Patients/list-patients')
  await showAnswer(dark.page)
  await take(dark.page, 'reference-dark')
  const phone = await visit('/docs', PHONE)
  await phone.page.locator('#endpoints summary').click()
  await phone.page.locator('#search').fill('book')
  await take(phone.page, 'reference-phone')
  await execute(phone.page, 'Patients/list-patients')
  await showAnswer(phone.page)
  await take(phone.page, 'reference-phone-response')
  await take((await visit('/docs/errors')).page, 'errors')
})
