import type { Settings } from '../../infra/settings/settings.ts'
import { rounds } from './scale.ts'

/** A way in which the application can be deployed, with or without the stack of its pipeline. */
export type Combination = { name: string; stage: string; settings: Settings; pipeline: boolean }

/** The pipeline has no setting of the stage. */
const PIPELINE = 'pipeline'

/** The options of a deployment, each with its settings; of two that differ, the later one counts. A new option is added here. */
const OPTIONS: Record<string, Settings> = {
  open: { firewall: 'off' },
  receipts: { smsReceipts: 'on' },
  domain: {
    domain: 'api.praxis-nord.de',
    certificateArn: 'arn:aws:acm:eu-central-1:111122223333:certificate/0-1',
    hostedZoneId: 'Z0',
    hostedZoneName: 'praxis-nord.de',
    canaryMinutes: '5',
  },
  watched: {
    alarmEmail: 'it@praxis-nord.de',
    monthlyBudget: '500',
    smsSpendLimit: '100',
    tracing: 'on',
    firewall: 'on',
  },
  backups: { backups: 'on', backupCopyRegion: 'eu-west-1' },
  provisioned: { provisionedReads: '10', provisionedWrites: '10' },
  warm: { warmReads: '24000', warmWrites: '8000' },
  reserved: { accountConcurrency: '1000' },
  [PIPELINE]: {},
  restored: { tableName: 'restored', tableStream: '2026-11-22T10:00:00.000' },
}

const STAGES = ['dev', 'prod']

const NAMES = Object.keys(OPTIONS)

/** None and all of them. In `npm run prove`, also each pair, each alone, and all but one. */
const SETS: readonly (readonly string[])[] = rounds(0, 1)
  ? [
      [],
      ...NAMES.map((name) => [name]),
      ...NAMES.flatMap((name, at) => NAMES.slice(at + 1).map((other) => [name, other])),
      ...NAMES.map((name) => NAMES.filter((other) => other !== name)),
      NAMES,
    ]
  : [[], NAMES]

const combine = (stage: string, options: readonly string[]): Combination => ({
  name: [stage, ...options].join(' + '),
  stage,
  settings: Object.assign({}, ...options.map((name) => OPTIONS[name])),
  pipeline: options.includes(PIPELINE),
})

/** Each stage with sets of options. */
export const COMBINATIONS: readonly Combination[] = STAGES.flatMap((stage) =>
  SETS.map((options) => combine(stage, options)),
)
