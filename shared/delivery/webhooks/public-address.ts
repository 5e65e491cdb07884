import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The IPv6 range allocated for global unicast (RFC 4291, 2.4); everything outside is reserved or unassigned. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Services of the host in every network of Azure. Those of other clouds have private addresses.
 * https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
 */
const AZURE_SERVICES = '168.63.129.16'

/**
 * Whether an IP address is on the public internet. False for private, loopback, link-local, metadata, multicast,
 * documentation and benchmark ranges, and for IPv6 addresses that embed an IPv4 address. The ranges of `ipaddr.js` are those
 * of the IANA registries of special-purpose addresses (RFC 6890), each with its own RFC.
 */
export function isPublicAddress(text: string): boolean {
  // The parser alone also accepts 0177.0.0.1; a zone index is meaningful on one machine only.
  if (isIP(text) === 0 || text.includes('%')) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4
    ? text !== AZURE_SERVICES
    : address.match(GLOBAL_UNICAST) && !isIsatap(address)
}

/** Whether the interface identifier is 0000:5efe, in which the bits u and g may be set, and an IPv4 address (RFC 5214, 6.1). */
const isIsatap = ({ parts: [, , , , flags = 0, marker] }: ipaddr.IPv6): boolean =>
  (flags & ~0x0300) === 0 && marker === 0x5efe
