/** A real browser on the reference page, and what it has to complain of. */
import chromium from '@sparticuz/chromium'
import { type Browser, type BrowserContextOptions, type Page, chromium as playwright } from 'playwright-core'

/** Options that a Lambda function needs and a test of policies must not have. */
const NOT_HERE = new Set([
  '--allow-running-insecure-content',
  '--disable-web-security',
  '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist',
  '--in-process-gpu',
  '--no-zygote',
  '--single-process',
  '--use-angle=swiftshader',
  '--use-gl=angle',
])

/** @throws Error saying what a person can do */
export async function startBrowser(): Promise<Browser> {
  const { CHROME_PATH } = process.env
  try {
    // The package has Linux only; elsewhere the Chrome that is installed.
    if (!CHROME_PATH && process.platform !== 'linux') return await playwright.launch({ channel: 'chrome' })
    return await playwright.launch({
      executablePath: CHROME_PATH ?? (await chromium.executablePath()),
      args: [
        ...chromium.args.filter((argument) => !NOT_HERE.has(argument)),
        '--disable-gpu',
        '--disable-software-rasterizer',
      ],
    })
  } catch (error) {
    throw new Error(`No browser starts here; CHROME_PATH may name one. ${(error as Error).message}`)
  }
}

export type Visit = {
  readonly page: Page
  /** Errors, warnings, broken policies, and requests to anywhere else. */
  readonly complaints: string[]
  /** Bytes over the wire, and requests, so far. */
  readonly weight: { bytes: number; requests: number }
}

/** A new page of the browser, without history. */
export async function newVisit(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({
    locale: 'en-US',
    viewport: { width: 1280, height: 800 },
    ...options,
  })
  const complaints: string[] = []
  const weight = { bytes: 0, requests: 0 }
  await context.exposeFunction('complain', (text: string) => complaints.push(text))
  await context.addInitScript(
    "addEventListener('securitypolicyviolation', ({ violatedDirective }) => complain('policy: ' + violatedDirective))",
  )
  const page = await context.newPage()
  const tools = await context.newCDPSession(page)
  await tools.send('Network.enable')
  tools.on('Network.loadingFinished', ({ encodedDataLength }) => {
    weight.bytes += encodedDataLength
  })
  page.on('console', (message) => {
    if (!['log', 'debug', 'info'].includes(message.type())) complaints.push(`console: ${message.text()}`)
  })
  page.on('pageerror', ({ message }) => complaints.push(`error: ${message}`))
  page.on('request', (request) => {
    weight.requests += 1
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:')) complaints.push(`request: ${url}`)
  })
  return { page, complaints, weight }
}
