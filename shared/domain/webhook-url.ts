/**
 * Which addresses a webhook may have. This judges what is written; where the name leads is judged at every attempt.
 * Accepted texts are kept as `new URL(text).href`, which is accepted again.
 */

const MAX_URL_LENGTH = 2048

/** A URL is ASCII (RFC 3986): other scripts have look-alikes of digits and dots, and characters that vanish. */
const FORBIDDEN_CHARACTERS = /[^\x21-\x7e]|\\/

const DEFAULT_PORTS: Record<string, string> = { 'http:': '80', 'https:': '443' }

/** Not in the public DNS, or never meant to be (RFC 6761, 6762, 7686, 8375, 9476, and what networks use inside). */
const NON_PUBLIC_TLD =
  /^(?:alt|arpa|corp|example|home|internal|intranet|invalid|lan|local|localdomain|localhost|onion|private|test)$/

const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

const MAX_HOST_LENGTH = 253

/**
 * Why webhooks cannot be sent to this address; null when they can. `allowedHost` (`HOST:PORT`, of the local runner)
 * may be any host, on its port, over http or https.
 */
export function webhookUrlIssue(text: string, allowedHost?: string): string | null {
  if (text.length > MAX_URL_LENGTH) return 'must be at most 2,048 characters'
  if (FORBIDDEN_CHARACTERS.test(text))
    return 'must have no spaces, backslashes or characters outside ASCII: encode them, a host as punycode'
  const url = URL.parse(text)
  if (url === null) return 'must be a URL, such as https://example.com/webhooks'
  if (url.href.length > MAX_URL_LENGTH) return 'must be at most 2,048 characters when encoded'
  if (url.username !== '' || url.password !== '') return 'must have no user name or password'
  if (text.includes('#')) return 'must have no fragment'
  if (isAllowedHost(url, allowedHost)) return null
  if (url.protocol !== 'https:') return 'must begin with https://'
  if (url.port !== '' && url.port !== '8443') return 'must use port 443 or 8443'
  return hostIssue(url.hostname) ?? spellingIssue(text, url)
}

/** Whether the URL leads to the one host that the local runner lets pass. */
export const isAllowedHost = (url: URL, allowedHost?: string): boolean =>
  url.protocol in DEFAULT_PORTS &&
  `${url.hostname}:${url.port || DEFAULT_PORTS[url.protocol]}` === allowedHost?.toLowerCase()

/** The parser has already made every spelling of an IPv4 address four decimal numbers, and left brackets to IPv6. */
function hostIssue(host: string): string | null {
  const labels = host.split('.')
  const last = labels.at(-1) ?? ''
  if (host.startsWith('[') || /^\d+$/.test(last)) return 'must have a host name, not an IP address'
  if (last === '') return 'must have a host name without a dot at its end'
  if (NON_PUBLIC_TLD.test(last) || labels.length === 1) return 'must have a public host name'
  // The parser reads punycode only beside another script.
  const readable = host.length <= MAX_HOST_LENGTH && URL.canParse(`https://ü.${host}`)
  if (!readable || !labels.every((label) => DNS_LABEL.test(label))) return 'must have a valid host name'
  return null
}

/** What a reader takes for the host is the host: nothing was decoded, dropped or added by the parser. */
function spellingIssue(text: string, url: URL): string | null {
  const [, written] = /^https:\/\/([^/?]*)/i.exec(text.toLowerCase()) ?? []
  return written === url.host || written === `${url.hostname}:443`
    ? null
    : 'must be written plainly, as https://host/path'
}
