import type { Settings } from '../../infra/settings/stage-file.ts'
import { rounds } from './scale.ts'

/** A way in which the application can be deployed. */
export type Combination = { name: string; stage: string; settings: Settings }

/** The options of a deployment, each with its settings. A new option is added here. */
const OPTIONS: Record<string, Settings> = {
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
  restored: { tableName: 'restored', tableStream: '2026-11-22T10:00:00.000' },
}

const STAGES = ['dev', 'prod']

const NAMES = Object.keys(OPTIONS)

/** None and all of them: an option adds resources, and takes none away. In `npm run prove`, every set. */
const SETS: readonly (readonly string[])[] = rounds(0, 1)
  ? Array.from({ length: 2 ** NAMES.length }, (_, bits) => NAMES.filter((_, at) => (bits >> at) & 1))
  : [[], NAMES]

const combine = (stage: string, options: readonly string[]): Combination => ({
  name: [stage, ...options].join(' + '),
  stage,
  settings: Object.assign({}, ...options.map((name) => OPTIONS[name])),
})

/** Each stage with sets of options. */
export const COMBINATIONS: readonly Combination[] = STAGES.flatMap((stage) =>
  SETS.map((options) => combine(stage, options)),
)
