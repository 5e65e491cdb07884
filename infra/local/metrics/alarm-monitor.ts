import { type AlarmState, alarmStates } from './alarm-states.ts'
import type { Alarm } from './alarms.ts'
import { readQueueFigures } from './queue-figures.ts'
import { recordMetrics } from './recorded-metrics.ts'

export type AlarmMonitor = {
  /** Records the metrics among lines that a function wrote. */
  readonly write: (text: string) => void
  /** Replaces the alarms. */
  readonly watch: (alarms: readonly Alarm[]) => void
  /** The states of the alarms at a time, in milliseconds since the epoch. */
  readonly states: (now: number) => Promise<AlarmState[]>
}

/** Plays CloudWatch's alarms, as far as it has their metrics. */
export function openAlarmMonitor(queueEndpoint: string): AlarmMonitor {
  const metrics = recordMetrics()
  const startedAt = Date.now()
  let watched: readonly Alarm[] = []
  return {
    write: metrics.write,
    watch: (alarms) => {
      watched = alarms
    },
    states: async (now) =>
      alarmStates(watched, { metrics, queues: await readQueueFigures(queueEndpoint), startedAt, now }),
  }
}
