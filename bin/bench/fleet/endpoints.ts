import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { EVENTS } from '../../../shared/domain/event.ts'
import type { Webhook } from '../../../shared/domain/webhook.ts'

/** A webhook of the fleet with its receiver. */
export type Endpoint = {
  readonly clinic: ClinicId
  readonly webhook: Webhook
  /** Whether its receiver hangs from the onset until the recovery. The others are innocent. */
  readonly hangs: boolean
}

/** The webhooks of each clinic: one to three, two on average. The given share of them hangs. */
export function fleetEndpoints(clinics: number, hangingShare: number, random: () => number): Endpoint[][] {
  return Array.from({ length: clinics }, (_, number) => {
    const clinic = `c${number}` as ClinicId
    const count = 1 + Math.floor(3 * random())
    return Array.from({ length: count }, (_, index) => ({
      clinic,
      webhook: webhookOf(`w${number}.${index}`),
      hangs: random() < hangingShare,
    }))
  })
}

/** The URL of a simulated receiver is the id of its webhook. */
const webhookOf = (id: string): Webhook => ({
  id,
  url: id,
  events: EVENTS,
  isActive: true,
  description: null,
  secret: 'whsec_c2ltdWxhdGVkIHNlY3JldA==',
  secretNumber: 1,
  previousSecrets: [],
  createdBy: 'ck_fleet',
  createdAt: '2026-11-01T00:00:00.000Z',
  updatedAt: '2026-11-01T00:00:00.000Z',
})
