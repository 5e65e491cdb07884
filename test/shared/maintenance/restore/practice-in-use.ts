/** A practice that sends emails and delivers events from one table or another, through providers that record what they get. */

import type { QueuedEmail } from '../../../../shared/delivery/email/email-queue.ts'
import { sendQueuedEmail } from '../../../../shared/delivery/email/send-queued-email.ts'
import { sweepMessages } from '../../../../shared/delivery/email/sweep-messages.ts'
import { sweepDeliveries } from '../../../../shared/delivery/webhooks/sweep-deliveries.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import type { DeliveryReference } from '../../../../shared/domain/webhooks/delivery.ts'
import { clinicStore } from '../../../../shared/store/clinics.ts'
import { dueDeliveries } from '../../../../shared/store/events/due-deliveries.ts'
import { eventFanOut } from '../../../../shared/store/events/fan-out.ts'
import { messageDispatch } from '../../../../shared/store/messages/dispatch.ts'
import { pausedClinics } from '../../../../shared/store/paused-clinics.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { deliverySimulation } from '../../../support/deliveries.ts'

const MINUTE = 60_000

export type Practice = ReturnType<typeof practiceInUse>

/** @param clinic whose emails are sent; the table may have others */
export function practiceInUse(clinic: Clinic) {
  /** Ids of the emails that were sent, in order. */
  const sent: string[] = []
  /** Ids of the events that the webhook endpoint got, in order. */
  const received: string[] = []
  const sequences = new Map<string, number[]>()

  /** Sends what is due, as the sweep and the consumer of a table do. */
  async function sendEmails(table: Table, now: number, only?: readonly string[]): Promise<void> {
    const queue: QueuedEmail[] = []
    const dispatch = messageDispatch({ table })
    const { withoutPaused } = pausedClinics({ table })
    const messages: typeof dispatch = {
      ...dispatch,
      dueBatches: (...args) => withoutPaused(dispatch.dueBatches(...args)),
    }
    const port = { push: async (email: QueuedEmail) => void queue.push(email) }
    await sweepMessages({ messages, queue: port, now: () => now, count: () => {} })
    for (const email of queue) if (!only || only.includes(email.message)) await sendQueued(table, now, email)
  }

  /** Sends an email that was queued before. */
  const sendQueued = (table: Table, now: number, email: QueuedEmail): Promise<void> =>
    sendQueuedEmail(
      {
        messages: messageDispatch({ table }),
        mailSettings: clinicStore({ table }).find,
        sender: {
          send: async ({ message }) => {
            sent.push(message)
            return { kind: 'accepted', providerMessageId: `ses-${message}` }
          },
        },
        queue: { push: async () => {} },
        waitForTurn: async () => {},
        now: () => now,
        random: () => 0,
        newToken: newUuid,
      },
      email,
    )

  /** Fans out, sweeps and delivers everything, and what was queued before. */
  async function deliverEvents(
    table: Table,
    now: number,
    queued: readonly DeliveryReference[] = [],
  ): Promise<void> {
    const simulation = deliverySimulation(table)
    simulation.now = now
    const created: DeliveryReference[] = []
    await eventFanOut({ table, now: () => now, newId: newUuid }).fanOut(clinic.id, async (more) => {
      created.push(...more)
    })
    await simulation.push('quick', [...queued, ...created])
    await simulation.drain()
    simulation.now += 20 * MINUTE
    const queues = { push: simulation.push }
    const due = dueDeliveries({ table })
    const { withoutPaused } = pausedClinics({ table })
    const deliveries: typeof due = {
      ...due,
      dueBatches: (...args) => withoutPaused(due.dueBatches(...args)),
    }
    await sweepDeliveries({ deliveries, queues, now: () => simulation.now })
    await simulation.drain()
    for (const { body } of simulation.received) {
      const { id, sequence, data } = JSON.parse(body)
      received.push(id)
      sequences.set(data.id, [...(sequences.get(data.id) ?? []), sequence])
    }
  }

  return { sent, received, sequences, sendEmails, sendQueued, deliverEvents }
}
