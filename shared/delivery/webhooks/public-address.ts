import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The IPv6 range allocated for global unicast; everything outside is reserved or unassigned. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Whether an IP address is on the public internet. False for private, loopback, link-local, metadata, multicast,
 * documentation and benchmark ranges, and for IPv6 addresses that embed an IPv4 address.
 */
export function isPublicAddress(text: string): boolean {
  // The parser alone also accepts 0177.0.0.1; a zone index is meaningful on one machine only.
  if (isIP(text) === 0 || text.includes('%')) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST)
}
