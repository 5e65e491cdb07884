import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPublicAddress } from '../../../../shared/delivery/webhooks/public-address.ts'
import { property } from '../../../support/scale.ts'

describe('isPublicAddress', () => {
  it.each([
    // The nearest neighbours of each special range.
    '1.0.0.0',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '169.255.0.0',
    '168.63.129.15',
    '168.63.129.17',
    '172.15.255.255',
    '172.32.0.0',
    '191.255.255.255',
    '192.0.1.0',
    '192.0.1.255',
    '192.0.3.0',
    '192.31.195.255',
    '192.31.197.0',
    '192.52.192.255',
    '192.52.194.0',
    '192.88.98.255',
    '192.88.100.0',
    '192.167.255.255',
    '192.169.0.0',
    '192.175.47.255',
    '192.175.49.0',
    '198.17.255.255',
    '198.20.0.0',
    '198.51.99.255',
    '198.51.101.0',
    '203.0.112.255',
    '203.0.114.0',
    '223.255.255.255',
    '8.8.8.8',
    '2000::',
    '2001:200::',
    '2001:db7:ffff:ffff:ffff:ffff:ffff:ffff',
    '2001:db9::',
    '2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    '2003::',
    '2606:4700:4700::1111',
    '2606:4700::5efd:7f00:1',
    '2606:4700::5eff:7f00:1',
    '2606:4700::400:5efe:7f00:1',
    '2606:4700::5efe:0:7f00:1',
    '2606:4700::7f00:5efe',
    '2620:4f:7fff:ffff:ffff:ffff:ffff:ffff',
    '2620:4f:8001::',
    '2A00:1450:4001:81B::200E',
    '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    '3fff:1000::',
    '3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ])('is true for %s', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.each([
    ['the current network', '0.0.0.0', '0.0.0.1', '0.255.255.255'],
    ['private', '10.0.0.0', '10.255.255.255'],
    ['carrier-grade NAT', '100.64.0.0', '100.127.255.255'],
    ['loopback', '127.0.0.0', '127.0.0.1', '127.255.255.255'],
    ['link-local', '169.254.0.0', '169.254.169.254', '169.254.170.2', '169.254.255.255'],
    ['services of Azure', '168.63.129.16'],
    ['private', '172.16.0.0', '172.31.255.255'],
    ['protocol assignments', '192.0.0.0', '192.0.0.8', '192.0.0.170', '192.0.0.255'],
    ['documentation', '192.0.2.0', '192.0.2.255'],
    ['AS112', '192.31.196.0', '192.31.196.255'],
    ['AMT', '192.52.193.0', '192.52.193.255'],
    ['6to4 relays', '192.88.99.0', '192.88.99.255'],
    ['private', '192.168.0.0', '192.168.255.255'],
    ['AS112', '192.175.48.0', '192.175.48.255'],
    ['benchmarks', '198.18.0.0', '198.19.255.255'],
    ['documentation', '198.51.100.0', '198.51.100.255'],
    ['documentation', '203.0.113.0', '203.0.113.255'],
    ['multicast', '224.0.0.0', '233.252.0.1', '239.255.255.255'],
    ['reserved', '240.0.0.0', '255.255.255.254'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::', '0:0:0:0:0:0:0:0'],
    ['loopback', '::1', '0:0:0:0:0:0:0:1'],
    ['IPv4-compatible', '::2', '::8.8.8.8', '::7f00:1'],
    ['IPv4-mapped', '::ffff:0:0', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:ffff:ffff'],
    ['IPv4-translated', '::ffff:0:0:0', '::ffff:0:8.8.8.8'],
    ['NAT64', '64:ff9b::', '64:ff9b::8.8.8.8', '64:ff9b::7f00:1', '64:ff9b:1::', '64:ff9b:1:ffff::'],
    ['discard', '100::', '100::ffff:ffff:ffff:ffff', '100:0:0:1::'],
    ['unallocated', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '200::', '400::', '800::', '1000::'],
    ['Teredo', '2001::', '2001:0:7f00:1::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['protocol assignments', '2001:1::1', '2001:1::2', '2001:1:ffff::', '2001:1ff:ffff:ffff::'],
    ['benchmarks', '2001:2::', '2001:2:0:ffff::'],
    ['AMT', '2001:3::', '2001:3:ffff::'],
    ['AS112', '2001:4:112::', '2001:4:112:ffff::', '2620:4f:8000::', '2620:4f:8000:ffff::'],
    ['ORCHID', '2001:10::', '2001:1f:ffff::', '2001:20::', '2001:2f:ffff::'],
    ['drones', '2001:30::', '2001:3f:ffff::'],
    ['ISATAP', '2606:4700::5efe:a9fe:a9fe', '2606:4700::200:5efe:127.0.0.1', '2a00:1450::5efe:8.8.8.8'],
    ['ISATAP of a group', '2606:4700::100:5efe:a00:1', '2606:4700::300:5efe:a00:1'],
    ['metadata of clouds', '100.100.100.200', '192.0.0.192', 'fd00:c1::a9fe:a9fe', 'fd20:ce::254'],
    ['documentation', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '3fff::', '3fff:fff:ffff::'],
    ['6to4', '2002::', '2002:7f00:1::', '2002:808:808::1', '2002:ffff:ffff::'],
    ['unallocated', '4000::', '6000::', '8000::', 'a000::', 'c000::', 'e000::', 'f000::', 'fbff:ffff::'],
    ['segment routing', '5f00::', '5f00:ffff::'],
    ['unique local', 'fc00::', 'fd00::', 'fd00:ec2::254', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['unallocated', 'fe00::', 'fe7f:ffff::'],
    ['link-local', 'fe80::', 'fe80::1', 'febf:ffff::'],
    ['site-local', 'fec0::', 'feff:ffff::'],
    ['multicast', 'ff00::', 'ff02::1', 'ff0e::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['an address with a zone index', 'fe80::1%eth0', '2606:4700:4700::1111%eth0', '2606:4700:4700::1111%1'],
    [
      'a non-canonical spelling',
      '0177.0.0.1',
      '8.8.2056',
      '134744072',
      '0x8.8.8.8',
      '010.8.8.8',
      '8.8.8.8.',
      ' 8.8.8.8',
    ],
    [
      'a non-canonical spelling',
      '[2606:4700:4700::1111]',
      '2606:4700:4700::1111/128',
      '8.8.8.8/32',
      '8.8.8.8:443',
    ],
    [
      'text that is not an IP address',
      '',
      'example.com',
      'localhost',
      '8.8.8',
      '8.8.8.8.8',
      '256.1.1.1',
      ':',
      ':::',
      '1::2::3',
    ],
  ])('is false for %s: %s', (_, ...addresses) => {
    expect(addresses.filter(isPublicAddress)).toEqual([])
  })

  it('is false for IPv6 addresses that embed an IPv4 address', () => {
    fc.assert(
      fc.property(fc.ipV4(), (v4) => {
        const [a = 0, b = 0, c = 0, d = 0] = v4.split('.').map(Number)
        const [high, low] = [(a * 256 + b).toString(16), (c * 256 + d).toString(16)]
        const holders = ['::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::'].map(
          (prefix) => prefix + v4,
        )
        holders.push(`2002:${high}:${low}::1`, `2001:0:${high}:${low}::1`)
        holders.push(`2606:4700::5efe:${v4}`, `2606:4700::200:5efe:${high}:${low}`)
        expect(holders.filter(isPublicAddress)).toEqual([])
      }),
      property(200, 20_000),
    )
  })
})
