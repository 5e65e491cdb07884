import type { DeploymentContext } from '../../infra/stages.ts'

/** A way in which the application can be deployed. */
export type Combination = { name: string; stage: string; settings: DeploymentContext }

/** What can be switched on, each with the settings that do it. A new option is added here. */
const OPTIONS: Record<string, DeploymentContext> = {
  receipts: { smsReceipts: 'on' },
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
