import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The settings of a deployment: in the file of its stage, or with `-c NAME=VALUE`, which takes precedence. */
export const SETTING_NAMES = [
  'account',
  'region',
  'bootstrapQualifier',
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
  'throttleRate',
  'throttleBurst',
  'warmReads',
  'warmWrites',
  'provisionedReads',
  'provisionedWrites',
  'alarmEmail',
  'smsSpendLimit',
  'monthlyBudget',
  'tracing',
  'canaryMinutes',
  'tableName',
  'tableStream',
  'tableKey',
  'backups',
  'backupCopyRegion',
  'version',
] as const

export type SettingName = (typeof SETTING_NAMES)[number]

export type Settings = Readonly<Partial<Record<SettingName, string | undefined>>>

/** Values that replace the settings of a file. `null` is no value. */
export type Overrides = Readonly<Partial<Record<SettingName, string | null | undefined>>>

/** Whether data is kept, and how strict the limits are. */
export type StageKind = 'development' | 'production'

const KINDS: readonly StageKind[] = ['development', 'production']

/** Other names for `-c`: the stage, and the settings of the pipeline's role, which is not deployed with its stage. */
const OTHER_CONTEXT = ['stage', 'pipelineRepository', 'pipelineSubject', 'githubProviderArn']

/** Stacks, functions and queues have the stage in their names, which have a limited length and must differ from the names of another stage. */
const STAGE_NAME = /^[a-z][a-z0-9]{0,15}$/

/** Tests have separate stages, so that they do not depend on what a team fills in. */
const FOLDER = process.env.TEST_RUN_STAGES ?? join(import.meta.dirname, '../stages')

/** The stages that have a file. */
export const stageNames = (): string[] =>
  readdirSync(FOLDER)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.replace(/\.json$/, ''))
    .sort()

/** `infra/stages/<stage>.json`, for error messages. */
export const stageFileName = (stage: string): string => `infra/stages/${stage}.json`

/**
 * The settings of a stage: the settings of its file, and the settings that override them. `null` in a file is no value.
 * @throws Error for an unknown stage, setting or kind
 */
export function readStage(stage: string, overrides: Overrides): { kind: StageKind; settings: Settings } {
  const stages = stageNames()
  if (!stages.includes(stage))
    throw new Error(`Unknown stage "${stage}". Choose one with -c stage=${stages.join('|')}.`)
  const content = JSON.parse(readFileSync(join(FOLDER, `${stage}.json`), 'utf8')) as Record<string, unknown>
  return parseStage(stage, content, overrides)
}

/** The settings of a stage from the content of its file. @throws Error for an unknown setting or kind */
export function parseStage(
  stage: string,
  { kind, ...values }: Record<string, unknown>,
  overrides: Overrides,
): { kind: StageKind; settings: Settings } {
  const name = stageFileName(stage)
  if (!STAGE_NAME.test(stage))
    throw new Error(`${name}: a stage is named by 1 to 16 lower-case letters and digits, a letter first.`)
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

/**
 * The settings among what was given with `-c`, and in cdk.json.
 * @throws Error for an unknown name, which would have no effect
 */
export function settingsIn(context: Readonly<Record<string, unknown>>): Overrides {
  // Names of the CDK, such as feature flags, have colons or hyphens.
  const given = Object.entries(context).filter(([name]) => /^[A-Za-z]+$/.test(name))
  const settings = given.filter(([name]) => !OTHER_CONTEXT.includes(name))
  for (const [name] of settings)
    if (!SETTING_NAMES.includes(name as SettingName))
      throw new Error(`Unknown setting "${name}". Known are ${SETTING_NAMES.join(', ')}.`)
  return Object.fromEntries(settings.map(([name, value]) => [name, value === null ? null : String(value)]))
}

const withoutUndefined = (settings: Overrides): Overrides =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
