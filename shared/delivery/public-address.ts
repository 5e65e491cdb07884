import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All of IPv6 that is given out for global use: whatever lies outside is special, or not yet anything. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Whether an IP address is one of the public internet: no private, loopback, link-local, metadata, multicast,
 * documentation or benchmark range, and no IPv6 address with an IPv4 address in it.
 */
export function isPublicAddress(text: string): boolean {
  // The parser alone would also take 0177.0.0.1, and a zone has meaning on one machine only.
  if (isIP(text) === 0 || text.includes('%')) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST)
}
