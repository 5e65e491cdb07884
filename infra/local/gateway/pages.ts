import type { Providers } from '../providers/server.ts'
import { choicesOf, headerValues } from './compression.ts'
import type { ReceivedRequest } from './event.ts'
import { messagesPage } from './messages-page.ts'
import type { HttpResponse } from './response.ts'

/** Responds to requests below /_local; undefined for other requests. */
export type PageHandler = (
  request: Pick<ReceivedRequest, 'method' | 'target' | 'rawHeaders' | 'body'>,
) => Promise<HttpResponse> | undefined

type Options = {
  /** The content of /_local. */
  readonly about: object
  readonly providers: Pick<Providers, 'sms' | 'emails'>
  readonly writeLogs: (logGroup: string, text: string) => void
}

/** A request of CloudWatch Logs' PutLogEvents, of the operator tool. */
type PutLogEvents = {
  readonly logGroupName: string
  readonly logEvents: readonly { readonly message: string }[]
}

/** The pages of the local stack. Their content is read for every request. */
export function localPages({ about, providers, writeLogs }: Options): PageHandler {
  const pages: Record<string, (html: boolean, body: string) => Promise<HttpResponse>> = {
    'GET /_local': async () => json(200, about),
    'GET /_local/sms': async (html) =>
      html
        ? messagesPage('SMS outbox', ['at', 'to', 'sender_id', 'message'], providers.sms())
        : json(200, providers.sms()),
    'GET /_local/emails': async (html) =>
      html
        ? messagesPage('Email inbox', ['at', 'to', 'from', 'subject', 'text'], providers.emails())
        : json(200, providers.emails()),
    'POST /_local/logs': async (_html, body) => {
      const { logGroupName, logEvents }: PutLogEvents = JSON.parse(body)
      for (const { message } of logEvents) writeLogs(logGroupName, message)
      return json(200, {})
    },
  }
  return ({ method, target, rawHeaders, body }) => {
    const path = target.replace(/\?.*$/, '').replace(/\/$/, '')
    const page = pages[`${method} ${path}`]
    if (page && !isSameMachine(rawHeaders)) return Promise.resolve(json(403, { message: FOREIGN }))
    return page?.(prefersHtml(rawHeaders), body.toString())
  }
}

const FOREIGN = 'These pages are for this machine: Host and Origin must name it.'

/** Names of this machine. Any port: a container or a tunnel may forward another one to the stack's. */
const LOCAL_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/i

/**
 * Whether a request comes from this machine and from no page of another origin: a browser names the host that the page
 * believes to be on (DNS rebinding), and the origin of a page that posts to another host.
 */
function isSameMachine(rawHeaders: readonly string[]): boolean {
  const [host = '', ...otherHosts] = headerValues(rawHeaders, 'host')
  const origins = headerValues(rawHeaders, 'origin')
  return (
    otherHosts.length === 0 &&
    LOCAL_HOST.test(host) &&
    origins.every((origin) => origin.toLowerCase() === `http://${host.toLowerCase()}`)
  )
}

/** Browsers prefer HTML; programs ask for JSON or for anything. */
function prefersHtml(rawHeaders: readonly string[]): boolean {
  const weights = new Map(choicesOf(rawHeaders, 'accept'))
  return (weights.get('text/html') ?? 0) > (weights.get('application/json') ?? 0)
}

const json = (status: number, body: unknown): HttpResponse => ({
  status,
  headers: [
    ['content-type', 'application/json; charset=utf-8'],
    ['cache-control', 'no-store'],
  ],
  body: `${JSON.stringify(body, null, 2)}\n`,
})
