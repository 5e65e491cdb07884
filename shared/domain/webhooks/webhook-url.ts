/**
 * Validates webhook URLs as text. The addresses that the host name resolves to are checked at every attempt. An accepted
 * URL is stored as `new URL(text).href`, which is also accepted.
 */

const MAX_URL_LENGTH = 2048

/** A URL is ASCII (RFC 3986). Unicode has look-alikes of digits and dots, and characters that parsers drop. */
const FORBIDDEN_CHARACTERS = /[^\x21-\x7e]|\\/

const DEFAULT_PORTS: Record<string, string> = { 'http:': '80', 'https:': '443' }

/** Reserved top-level domains (RFC 6761, 6762, 7686, 8375, 9476) and common names of internal networks. */
const NON_PUBLIC_TLD =
  /^(?:alt|arpa|corp|example|home|internal|intranet|invalid|lan|local|localdomain|localhost|onion|private|test)$/

const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

const MAX_HOST_LENGTH = 253

/**
 * The reason why webhooks cannot be sent to a URL; null if they can. `allowedHost` (`HOST:PORT`, or `localhost` for
 * every port of this machine; set by the local runner) is accepted over http and https, even if it is private.
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

const THIS_MACHINE = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Whether the URL's host and port are allowed by the local runner. */
export const isAllowedHost = (url: URL, allowedHost?: string): boolean =>
  url.protocol in DEFAULT_PORTS &&
  (allowedHost === 'localhost'
    ? THIS_MACHINE.has(url.hostname)
    : `${url.hostname}:${url.port || DEFAULT_PORTS[url.protocol]}` === allowedHost?.toLowerCase())

/** The URL parser has normalized every spelling of an IPv4 address to dotted decimals; brackets enclose IPv6 only. */
function hostIssue(host: string): string | null {
  const labels = host.split('.')
  const last = labels.at(-1) ?? ''
  if (host.startsWith('[') || /^\d+$/.test(last)) return 'must have a host name, not an IP address'
  if (last === '') return 'must have a host name without a dot at its end'
  if (NON_PUBLIC_TLD.test(last) || labels.length === 1) return 'must have a public host name'
  // The parser validates punycode only if another label is not ASCII.
  const readable = host.length <= MAX_HOST_LENGTH && URL.canParse(`https://ü.${host}`)
  if (!readable || !labels.every((label) => DNS_LABEL.test(label))) return 'must have a valid host name'
  return null
}

/** The host must be written as it is parsed: the parser may not have decoded, dropped or added anything. */
function spellingIssue(text: string, url: URL): string | null {
  const [, written] = /^https:\/\/([^/?]*)/i.exec(text.toLowerCase()) ?? []
  return written === url.host || written === `${url.hostname}:443`
    ? null
    : 'must be written plainly, as https://host/path'
}
