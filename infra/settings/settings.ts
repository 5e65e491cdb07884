/** The settings of a deployment: in the file of its stage, or with `-c NAME=VALUE`, which takes precedence. */
import { Duration } from 'aws-cdk-lib'
import * as z from 'zod'
import { CELL_PATTERN, DEFAULT_CELL } from '../../shared/domain/credential.ts'
import { keysOf } from '../../shared/domain/keys-of.ts'
import { asciiAddress, emailAddress } from '../../shared/domain/patients/text-fields.ts'

const text = () =>
  z.union([z.string(), z.number()], { error: 'must be a text, a number or null' }).transform(String)

const matching = (pattern: RegExp, error: string) => text().pipe(z.string().regex(pattern, { error }))

const integer = (min: number, max = 9_999_999, error = `must be an integer from ${min}`) =>
  matching(/^[1-9]\d{0,6}$/, error)
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error })

const dollars = () => integer(1, undefined, 'must be an integer of US dollars')

const onOff = () =>
  text()
    .pipe(z.enum(['on', 'off'], { error: 'must be "on" or "off"' }))
    .transform((value) => value === 'on')

const region = () => matching(/^[a-z]{2}(-[a-z]+)+-\d$/, 'is not a region of AWS')

/** The address with its domain in punycode, as SES and the grants of functions compare it. */
const sender = () =>
  matching(/^[\w.%+-]+@\S+$/, 'is not an email address')
    .refine((value) => emailAddress().safeParse(value).success, { error: 'is not an email address' })
    .transform(asciiAddress)

/** The default of `cdk bootstrap`. */
export const DEFAULT_QUALIFIER = 'hnb659fds'

/** Whether data is kept, and how strict the limits are. */
const kind = z.enum(['development', 'production'], { error: 'must be development or production' })
const account = matching(/^\d{12}$/, 'must have 12 digits').optional()

const SHAPE = {
  account,
  region: region().optional(),
  bootstrapQualifier: matching(/^[a-z0-9]{1,10}$/, 'must have 1 to 10 lower-case letters and digits').default(
    DEFAULT_QUALIFIER,
  ),
  protection: onOff().default(false),
  emailFrom: sender(),
  smsSenderId: matching(
    /^(?=.*[A-Za-z])[A-Za-z0-9]{1,11}$/,
    'must have 1 to 11 letters and digits, at least one a letter',
  ),
  // SES's rate for an account that has just left the sandbox.
  emailsPerSecond: integer(1).default(14),
  smsReceipts: onOff().optional(),
  firewall: onOff().optional(),
  domain: matching(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'is not a domain name in lower case').optional(),
  certificateArn: matching(
    /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
    'is not the ARN of a certificate of ACM',
  ).optional(),
  hostedZoneId: text().optional(),
  hostedZoneName: text().optional(),
  accessRetentionDays: integer(1, 36_500, 'must be a number of days from 1 to 36500')
    .transform((days) => Duration.days(days))
    .optional(),
  cell: matching(CELL_PATTERN, 'must have 1 to 8 lower-case letters and digits').default(DEFAULT_CELL),
  accountConcurrency: integer(1).optional(),
  throttleRate: integer(1).optional(),
  throttleBurst: integer(1).optional(),
  // DynamoDB's minimum is what every table on demand takes anyway.
  warmReads: integer(12_000).optional(),
  warmWrites: integer(4000).optional(),
  provisionedReads: integer(1).optional(),
  provisionedWrites: integer(1).optional(),
  alarmEmail: matching(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'is not an email address').optional(),
  // SNS's limit in a new account.
  smsSpendLimit: dollars().default(1),
  monthlyBudget: dollars().optional(),
  tracing: onOff().default(false),
  canaryMinutes: integer(1, 60, 'must be an integer from 1 to 60').optional(),
  tableName: matching(/^[\w.-]{3,255}$/, 'is not the name of a table').optional(),
  tableStream: matching(
    /^\d{4}-\d\d-\d\dT[\d:.]+$/,
    'must be the label of the stream of the table, such as 2026-11-22T10:00:00.000',
  ).optional(),
  tableKey: matching(/^[\w-]{36}$/, 'is not the id of a key').optional(),
  backups: onOff().default(false),
  backupCopyRegion: region().optional(),
  version: matching(/^[\w.-]{1,64}$/, 'is not the name of a commit or tag').optional(),
}

export type SettingName = keyof typeof SHAPE

export const SETTING_NAMES = keysOf(SHAPE)

/** Settings as they are given. `null` is no value, whatever the file says. */
export type Settings = Readonly<Partial<Record<SettingName, string | null | undefined>>>

type Given = z.infer<typeof Fields>

const Fields = z.strictObject({ kind, ...SHAPE })

/** Rules about several settings are checked even if one of them is wrong, so that everything is reported at once. */
const rule = (error: string, holds: (settings: Given) => boolean) =>
  z.refine<Given>(holds, { error, when: () => true })

const together = (one: SettingName, other: SettingName) =>
  rule(
    `${one} and ${other} must be set together`,
    (settings) => (settings[one] === undefined) === (settings[other] === undefined),
  )

/** Whether the domain of an address is reserved for examples (RFC 2606), so that it cannot be verified with SES. */
export const isExampleAddress = (address: string): boolean => /[@.]example(\.(com|net|org))?$/i.test(address)

/** A regional domain takes a certificate of its own account and region only. */
function isOfStage(certificateArn: string, { account, region }: Given): boolean {
  const [, , , ofRegion, ofAccount] = certificateArn.split(':')
  return (region ?? ofRegion) === ofRegion && (account ?? ofAccount) === ofAccount
}

const isProduction = (settings: Given) => settings.kind === 'production'

const Schema = Fields.check(
  // A wrong shell must not make a second production, whose data is retained.
  rule('account is missing', (all) => !isProduction(all) || all.account !== undefined),
  rule('region is missing', (all) => !isProduction(all) || all.region !== undefined),
  rule(
    'emailFrom is of a domain for examples, which cannot be verified with SES',
    (all) => !isProduction(all) || !isExampleAddress(String(all.emailFrom)),
  ),
  together('domain', 'certificateArn'),
  together('hostedZoneId', 'hostedZoneName'),
  rule(
    'hostedZoneId and hostedZoneName need a domain',
    ({ domain, hostedZoneId }) => domain !== undefined || hostedZoneId === undefined,
  ),
  rule(
    'domain must be in the hosted zone',
    ({ domain, hostedZoneName: zone }) =>
      domain === undefined || zone === undefined || domain === zone || domain.endsWith(`.${zone}`),
  ),
  rule(
    'certificateArn must be of the account and region of the stage',
    (all) => all.certificateArn === undefined || isOfStage(all.certificateArn, all),
  ),
  together('warmReads', 'warmWrites'),
  together('provisionedReads', 'provisionedWrites'),
  rule(
    'canaryMinutes needs a domain, which the canary requests',
    ({ canaryMinutes, domain }) => canaryMinutes === undefined || domain !== undefined,
  ),
  together('tableName', 'tableStream'),
  rule(
    'tableKey is a setting of a table: set tableName too',
    ({ tableKey, tableName }) => tableKey === undefined || tableName !== undefined,
  ),
  rule(
    'backupCopyRegion copies backups: set it together with -c backups=on',
    ({ backupCopyRegion, backups }) => backupCopyRegion === undefined || backups === true,
  ),
  rule(
    'backupCopyRegion must be another region than the stage’s',
    ({ backupCopyRegion, region }) => backupCopyRegion === undefined || backupCopyRegion !== region,
  ),
)

export type StageKind = Given['kind']

/** Settings that are valid, with their defaults. */
export type ValidSettings = z.output<typeof Schema>

/** What a stage says about its account, whatever else it says. */
export const StageAccount = z.object({ kind, account })

/**
 * @param file for the message
 * @throws Error that lists every setting that is unknown, missing or wrong
 */
export function parseSettings(file: string, given: Readonly<Record<string, unknown>>): ValidSettings {
  const values = withoutNulls(given)
  const { data, error } = Schema.safeParse(values)
  if (data) return data
  const problems = error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((name) => `${name} is not a setting`)
    const [name] = issue.path
    if (name === undefined) return [issue.message]
    const value = values[String(name)]
    return [
      value === undefined
        ? `${String(name)} is missing`
        : `${String(name)} ${issue.message}: ${JSON.stringify(value)}`,
    ]
  })
  throw new Error(
    [`Correct the settings in ${file}, or with -c NAME=VALUE:`, ...new Set(problems)].join('\n- '),
  )
}

export const withoutNulls = (settings: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null && value !== undefined))
