/** Reports of providers on messages. */
import { identified } from '../model.ts'
import { pick, type Run } from '../run.ts'

/** The provider reports a message that it has as delivered or failed, possibly more than once and in any order. */
export async function reportFeedback(run: Run): Promise<void> {
  const { world, clinic, operation } = run
  const [byMessage, byKind = 0] = operation.random
  const message = pick(identified(clinic.messages), byMessage)
  if (!message) return
  const { channel, token } = message
  if ((await world.timesSent(channel, token)) === 0) return
  const kind = byKind < 0.6 ? 'delivered' : 'failed'
  message.feedback.possible.add(kind)
  const report = { clinic: clinic.id, id: message.id, channel, text: token, kind } as const
  if (await world.reportFeedback(report, operation.crash)) message.feedback.certain.add(kind)
}
