/** Emails that are accepted at the same moment and sent at the rate of SES: a queue, its consumer and the sweep. */
export type EmailLoad = {
  readonly emails: number
  readonly perSecond: number
  /** When the sweep first checks an email, and the bounds of the time until it checks the email again. */
  readonly dueMs: number
  readonly minRecheckMs: number
  readonly maxRecheckMs: number
  /** Emails that the sweep queues again in a minute. */
  readonly sweptPerMinute: number
}

export type EmailOutcome = {
  readonly hoursUntilSent: number
  /** Until no message is queued. */
  readonly hoursUntilEmpty: number
  readonly messagesPerEmail: number
  readonly sendsPerEmail: number
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/**
 * Simulates in steps of a second. The queue keeps its order; the sweep runs each minute, earliest due first. A message whose
 * email was sent before takes no turn.
 */
export function simulateEmails(load: EmailLoad): EmailOutcome {
  const { emails, perSecond } = load
  const queued = Array.from({ length: emails }, (_, email) => email)
  const isSent = new Uint8Array(emails)
  let next = 0
  let sent = 0
  let hoursUntilSent = 0
  let now = 0
  /** Emails by the time of their next check: all have the same times, so the list stays sorted. */
  let due = queued.map((email) => ({ email, at: load.dueMs }))

  function sweep(): void {
    const later: typeof due = []
    let count = 0
    for (; count < due.length && count < load.sweptPerMinute; count++) {
      const { email, at } = due[count] as (typeof due)[0]
      if (at > now) break
      if (isSent[email]) continue
      queued.push(email)
      later.push({ email, at: now + Math.min(Math.max(load.minRecheckMs, now), load.maxRecheckMs) })
    }
    due = [...due.slice(count), ...later].filter(({ email }) => !isSent[email])
  }

  for (; next < queued.length; now += 1000) {
    if (now % MINUTE === 0) sweep()
    for (let turns = 0; turns < perSecond && next < queued.length; next++) {
      const email = queued[next] as number
      if (isSent[email]) continue
      turns++
      isSent[email] = 1
      if (++sent === emails) hoursUntilSent = (now + 1000) / HOUR
    }
  }
  return {
    hoursUntilSent,
    hoursUntilEmpty: now / HOUR,
    messagesPerEmail: queued.length / emails,
    sendsPerEmail: sent / emails,
  }
}
