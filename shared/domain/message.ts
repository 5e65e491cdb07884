import type { Named } from './appointment.ts'

export const CHANNELS = ['sms', 'email'] as const
export type Channel = (typeof CHANNELS)[number]

export const MESSAGE_TYPES = ['manual', 'reminder', 'confirmation', 'system'] as const
export type MessageType = (typeof MESSAGE_TYPES)[number]

export const MESSAGE_STATUSES = ['queued', 'sent', 'delivered', 'failed'] as const
export type MessageStatus = (typeof MESSAGE_STATUSES)[number]

/** The provider that carries a channel. */
export const PROVIDERS = { sms: 'sns', email: 'ses' } as const satisfies Record<Channel, string>

/** One entry of the communication log (spec section 2). */
export type Message = {
  readonly id: string
  readonly channel: Channel
  readonly type: MessageType
  readonly recipient: string
  readonly subject: string | null
  readonly text: string
  readonly status: MessageStatus
  readonly providerMessageId: string | null
  readonly errorMessage: string | null
  /** ISO 8601 instant; null until sent. */
  readonly sentAt: string | null
  readonly patient: Named
  /** When the clinic accepted it, ISO 8601 instant: lists and filters go by this. */
  readonly acceptedAt: string
  /** The clinic-local day of `acceptedAt`, `Y-m-d`. */
  readonly acceptedOn: string
}
