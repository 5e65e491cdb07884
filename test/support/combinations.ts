import type { Settings } from '../../infra/stage-file.ts'

/** A way in which the application can be deployed. */
export type Combination = { name: string; stage: string; settings: Settings }

/** What can be switched on, each with the settings that do it. A new option is added here. */
const OPTIONS: Record<string, Settings> = {
  receipts: { smsReceipts: 'on' },
  domain: {
    domain: 'api.praxis-nord.de',
    certificateArn: 'arn:aws:acm:eu-central-1:111122223333:certificate/0-1',
    hostedZoneId: 'Z0',
    hostedZoneName: 'praxis-nord.de',
  },
  backups: { backups: 'on', backupCopyRegion: 'eu-west-1' },
  restored: { tableName: 'restored', tableStream: '2026-11-22T10:00:00.000' },
}

const STAGES = ['dev', 'prod']

/** Every stage with every set of options. */
export const COMBINATIONS: readonly Combination[] = STAGES.flatMap((stage) => {
  const combinations: Combination[] = [{ name: stage, stage, settings: {} }]
  for (const [option, settings] of Object.entries(OPTIONS))
    combinations.push(
      ...combinations.map((other) => ({
        stage,
        name: `${other.name} + ${option}`,
        settings: { ...other.settings, ...settings },
      })),
    )
  return combinations
})

/** Each stage with no option, and with all of them. */
export const EXTREMES: readonly Combination[] = STAGES.flatMap((stage) => {
  const all = COMBINATIONS.filter((combination) => combination.stage === stage)
  return [all[0], all.at(-1)] as Combination[]
})
