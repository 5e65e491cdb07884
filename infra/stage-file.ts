import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a deployment can set: in the file of its stage, or with `-c NAME=VALUE`, which takes precedence. */
export const SETTING_NAMES = [
  'account',
  'region',
  'protection',
  'emailFrom',
  'smsSenderId',
  'emailsPerSecond',
  'smsReceipts',
  'firewall',
  'domain',
  'certificateArn',
  'hostedZoneId',
  'hostedZoneName',
  'accessRetentionDays',
  'cell',
  'accountConcurrency',
  'warmReads',
  'warmWrites',
  'alarmEmail',
  'smsSpendLimit',
  'monthlyBudget',
  'tracing',
  'paused',
  'tableName',
  'tableStream',
  'tableKey',
  'backups',
  'backupCopyRegion',
] as const

export type SettingName = (typeof SETTING_NAMES)[number]

export type Settings = Readonly<Partial<Record<SettingName, string | undefined>>>

/** Whether data is kept, and how strict the limits are. */
export type StageKind = 'development' | 'production'

const KINDS: readonly StageKind[] = ['development', 'production']

const FOLDER = join(import.meta.dirname, 'stages')

/** The stages that have a file. */
export const stageNames = (): string[] =>
  readdirSync(FOLDER)
    .map((file) => file.replace(/\.json$/, ''))
    .sort()

/** `infra/stages/<stage>.json`, for error messages. */
export const stageFileName = (stage: string): string => `infra/stages/${stage}.json`

/**
 * The settings of a stage: those of its file, and those that override them. `null` in a file is no value.
 * @throws Error for an unknown stage, setting or kind
 */
export function readStage(stage: string, overrides: Settings): { kind: StageKind; settings: Settings } {
  const stages = stageNames()
  if (!stages.includes(stage))
    throw new Error(`Unknown stage "${stage}". Choose one with -c stage=${stages.join('|')}.`)
  const content = JSON.parse(readFileSync(join(FOLDER, `${stage}.json`), 'utf8')) as Record<string, unknown>
  return parseStage(stage, content, overrides)
}

/** The same, from the content of a file. */
export function parseStage(
  stage: string,
  { kind, ...values }: Record<string, unknown>,
  overrides: Settings,
): { kind: StageKind; settings: Settings } {
  const name = stageFileName(stage)
  if (!KINDS.includes(kind as StageKind)) throw new Error(`${name}: kind must be ${KINDS.join(' or ')}.`)
  for (const [setting, value] of Object.entries(values)) {
    if (!SETTING_NAMES.includes(setting as SettingName))
      throw new Error(`${name}: unknown setting "${setting}". Known are ${SETTING_NAMES.join(', ')}.`)
    if (value !== null && typeof value !== 'string' && typeof value !== 'number')
      throw new Error(`${name}: ${setting} must be a text, a number or null.`)
  }
  const given = Object.entries({ ...values, ...withoutUndefined(overrides) })
  const settings = given.flatMap(([setting, value]) => (value === null ? [] : [[setting, String(value)]]))
  return { kind: kind as StageKind, settings: Object.fromEntries(settings) }
}

const withoutUndefined = (settings: Settings): Settings =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
