/** The checks of single settings. Each throws an Error that names the setting and its valid values. */
import { Duration } from 'aws-cdk-lib'
import { CELL_PATTERN, DEFAULT_CELL } from '../../shared/domain/credential.ts'
import { asciiAddress, emailAddress } from '../../shared/domain/patients/text-fields.ts'
import type { SettingName, Settings } from './stage-file.ts'

function requirePattern(name: SettingName, value: string, pattern: RegExp, valid: string): string {
  if (!pattern.test(value)) throw new Error(`${name} ${valid}: "${value}".`)
  return value
}

export const accountSetting = ({ account }: Settings): string | undefined =>
  account === undefined ? undefined : requirePattern('account', account, /^\d{12}$/, 'must have 12 digits')

/** The form of the names of regions. */
export const REGION = /^[a-z]{2}(-[a-z]+)+-\d$/

export const regionSetting = ({ region }: Settings): string | undefined =>
  region === undefined ? undefined : requirePattern('region', region, REGION, 'is not a region of AWS')

/** The default of `cdk bootstrap`. */
export const DEFAULT_QUALIFIER = 'hnb659fds'

export const bootstrapQualifierSetting = ({ bootstrapQualifier }: Settings): string =>
  requirePattern(
    'bootstrapQualifier',
    bootstrapQualifier ?? DEFAULT_QUALIFIER,
    /^[a-z0-9]{1,10}$/,
    'must have 1 to 10 lower-case letters and digits',
  )

/** The address with its domain in punycode, as SES and the grants of functions compare it. */
export function emailFromSetting(value: string): string {
  requirePattern('emailFrom', value, /^[\w.%+-]+@\S+$/, 'is not an email address')
  const { data } = emailAddress().safeParse(value)
  if (data === undefined) throw new Error(`emailFrom is not an email address: "${value}".`)
  return asciiAddress(data)
}

export const smsSenderIdSetting = (value: string): string =>
  requirePattern(
    'smsSenderId',
    value,
    /^(?=.*[A-Za-z])[A-Za-z0-9]{1,11}$/,
    'must have 1 to 11 letters and digits, at least one a letter',
  )

/** Whether the domain of an address is reserved for examples (RFC 2606), so that it cannot be verified with SES. */
export const isExampleAddress = (address: string): boolean => /[@.]example(\.(com|net|org))?$/i.test(address)

export const cellSetting = ({ cell = DEFAULT_CELL }: Settings): string =>
  requirePattern('cell', cell, CELL_PATTERN, 'must have 1 to 8 lower-case letters and digits')

export const versionSetting = ({ version }: Settings): string | undefined =>
  version === undefined
    ? undefined
    : requirePattern('version', version, /^[\w.-]{1,64}$/, 'is not the name of a commit or tag')

/** `on` or `off`. */
export function switchSetting(name: SettingName, settings: Settings, initial: 'on' | 'off' = 'off'): boolean {
  const value = settings[name] ?? initial
  if (value !== 'on' && value !== 'off') throw new Error(`${name} must be "on" or "off".`)
  return value === 'on'
}

export function integerSetting(name: SettingName, value: string, min: number): number {
  if (!/^[1-9]\d{0,6}$/.test(value) || Number(value) < min)
    throw new Error(`${name} must be an integer from ${min}: "${value}".`)
  return Number(value)
}

export const optionalIntegerSetting = (
  name: SettingName,
  settings: Settings,
  min: number,
): number | undefined => {
  const value = settings[name]
  return value === undefined ? undefined : integerSetting(name, value, min)
}

/** The days of `accessRetentionDays`; undefined if they are not set. */
export function retentionSetting({ accessRetentionDays: days }: Settings): Duration | undefined {
  if (days === undefined) return undefined
  if (!/^[1-9]\d{0,4}$/.test(days) || Number(days) > 36_500)
    throw new Error(`accessRetentionDays must be a number of days from 1 to 36500: "${days}".`)
  return Duration.days(Number(days))
}

/** DynamoDB's minimum is what every table on demand takes anyway. */
export const warmThroughputSetting = (settings: Settings): Throughput | undefined =>
  throughputSetting(settings, { reads: 'warmReads', writes: 'warmWrites' }, { reads: 12_000, writes: 4000 })

export const provisionedSetting = (settings: Settings): Throughput | undefined =>
  throughputSetting(
    settings,
    { reads: 'provisionedReads', writes: 'provisionedWrites' },
    { reads: 1, writes: 1 },
  )

/** Units of a table, a second. */
export type Throughput = { readonly reads: number; readonly writes: number }

function throughputSetting(
  settings: Settings,
  names: Readonly<Record<keyof Throughput, SettingName>>,
  min: Throughput,
): Throughput | undefined {
  const [reads, writes] = [settings[names.reads], settings[names.writes]]
  if (reads === undefined && writes === undefined) return undefined
  if (reads === undefined || writes === undefined)
    throw new Error(`${names.reads} and ${names.writes} must be set together.`)
  return {
    reads: integerSetting(names.reads, reads, min.reads),
    writes: integerSetting(names.writes, writes, min.writes),
  }
}

/** The API's own domain. */
export type DomainSettings = {
  readonly name: string
  /** A certificate of ACM, in the region of the deployment. */
  readonly certificateArn: string
  /** The zone of Route 53 that gets a record for the domain. */
  readonly hostedZone: { readonly id: string; readonly name: string } | undefined
}

export function domainSettings(settings: Settings): DomainSettings | undefined {
  const { domain, certificateArn, hostedZoneId, hostedZoneName } = settings
  if (domain === undefined && certificateArn === undefined) {
    if (hostedZoneId !== undefined || hostedZoneName !== undefined)
      throw new Error('hostedZoneId and hostedZoneName need a domain.')
    return undefined
  }
  if (domain === undefined || certificateArn === undefined)
    throw new Error('domain and certificateArn must be set together.')
  requirePattern('domain', domain, /^[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'is not a domain name in lower case')
  requirePattern(
    'certificateArn',
    certificateArn,
    /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
    'is not the ARN of a certificate of ACM',
  )
  requireSameAccountAndRegion(certificateArn, settings)
  return { name: domain, certificateArn, hostedZone: hostedZone(domain, hostedZoneId, hostedZoneName) }
}

/** A regional domain takes a certificate of its own account and region only. */
function requireSameAccountAndRegion(certificateArn: string, { account, region }: Settings): void {
  const [, , , ofRegion, ofAccount] = certificateArn.split(':')
  if ((region ?? ofRegion) !== ofRegion || (account ?? ofAccount) !== ofAccount)
    throw new Error(
      `certificateArn must be of the account and region of the stage: "${certificateArn}" is not of ${account} in ${region}.`,
    )
}

function hostedZone(domain: string, id: string | undefined, name: string | undefined) {
  if (id === undefined && name === undefined) return undefined
  if (id === undefined || name === undefined)
    throw new Error('hostedZoneId and hostedZoneName must be set together.')
  if (domain !== name && !domain.endsWith(`.${name}`))
    throw new Error(`domain must be in the hosted zone ${name}: "${domain}".`)
  return { id, name }
}
