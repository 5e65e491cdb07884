/** Checks of the log and the providers' messages when a history has ended. */
import type { ClinicModel, MessageModel } from '../model.ts'
import { isErased } from '../model.ts'
import { demand } from '../register.ts'
import type { World } from '../world.ts'
import { readAll } from './read-lists.ts'
import { isOfErasedPatient } from './records.ts'

type Entry = { id: string; message: string; status: string; channel: string; patient: { id: string } }

export async function checkMessages(world: World, clinic: ClinicModel): Promise<void> {
  const stored: Entry[] = await readAll(world, clinic, 'list-messages')
  const isAnonymous = isOfErasedPatient(clinic)
  const known = new Set(clinic.messages.map(({ token }) => token))
  const strange = stored.find((entry) => !known.has(entry.message) && !isAnonymous(entry))
  demand(strange === undefined, () => `an unexpected message: ${JSON.stringify(strange)}`)
  for (const message of clinic.messages) {
    const entries = stored.filter((entry) => entry.message === message.token)
    const sent = await world.timesSent(message.channel, message.token)
    demand(sent <= 1, () => `${message.token} was sent ${sent} times`)
    demand(message.existence !== 'none' || sent === 0, () => `${message.token} was rejected, but sent`)
    if (isErased(message.patient)) continue
    checkEntries(message, entries, sent)
  }
}

/** A rejected SMS leaves an entry that failed; every repetition of its request may leave another. */
function checkEntries(
  { token, id, channel, existence, isReportedSent, feedback }: MessageModel,
  entries: Entry[],
  sent: number,
): void {
  const statuses = entries.map(({ status }) => status)
  const open = statuses.filter((status) => status !== 'failed')
  demand(open.length <= 1, () => `${token} has entries ${statuses}`)
  if (existence === 'certain') demand(entries.length >= 1, () => `message ${token} is lost`)
  if (existence === 'none') demand(open.length === 0, () => `${token} was rejected, but is ${statuses}`)
  if (open[0] === 'sent' || open[0] === 'delivered')
    demand(sent === 1, () => `${token} is logged as sent, but the provider does not have it`)
  if (isReportedSent)
    demand(sent === 1, () => `${token} was reported as sent, but the provider does not have it`)
  const { certain, possible } = feedback
  if (sent === 1 && !possible.has('failed'))
    demand(open.length === 1, () => `${token} was sent, but is logged as ${statuses}`)
  if (channel === 'email' && existence === 'certain')
    demand(
      sent === 1 || open[0] === 'queued' || statuses[0] === 'failed',
      () => `${token} is ${statuses}, never sent`,
    )
  if (!possible.has('delivered'))
    demand(open[0] !== 'delivered', () => `${token} is delivered without a report`)
  // Whichever was recorded first is final.
  const status = entries.find((entry) => entry.id === id)?.status ?? ''
  if (certain.size > 0)
    demand(
      [...possible].some((kind) => kind === status),
      () => `${token} is ${status}, not ${[...possible]}`,
    )
}
