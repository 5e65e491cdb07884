import { once } from 'node:events'

/** An accepted email, as /_local/emails shows it. */
export type Email = {
  readonly message_id: string
  readonly from: string
  readonly to: readonly string[]
  readonly reply_to: readonly string[]
  readonly subject: string
  readonly text: string | null
  /** ISO 8601, to the second. */
  readonly at: string
}

export type EmailEngine = Awaited<ReturnType<typeof startEmailEngine>>

type StoredEmail = {
  readonly messageId: string
  readonly from: string
  readonly replyTo: string[]
  readonly destination: { readonly to: string[] }
  readonly subject: string
  readonly body: { readonly text?: string }
  /** Seconds since the epoch. */
  readonly at: number
}

/** Starts an SES in this process. Emails are in memory. */
export async function startEmailEngine() {
  // Loaded on demand, since loading takes long.
  const { default: imported } = await import('aws-ses-v2-local')
  // A CommonJS package with a `default` property, which Node and bundlers import differently.
  const start = imported.default ?? (imported as unknown as typeof imported.default)
  const server = await start({ host: '127.0.0.1', port: 0 })
  const { port } = server.address() as { port: number }
  const url = `http://127.0.0.1:${port}`
  const acceptedIds = new Set<string>()
  return {
    /** The web page of the inbox. */
    inboxUrl: `${url}/`,
    /** Calls SendEmail with the client's body. */
    send: async (body: string, authorization: string) => {
      const response = await fetch(`${url}/v2/email/outbound-emails`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization },
        body,
      })
      const text = await response.text()
      if (response.ok) acceptedIds.add((JSON.parse(text) as { MessageId: string }).MessageId)
      return { status: response.status, text }
    },
    /** The emails that this engine accepted, newest last. All engines of a process share one store. */
    list: async (): Promise<Email[]> => {
      const { emails } = (await (await fetch(`${url}/store`)).json()) as { emails: StoredEmail[] }
      return emails.filter(({ messageId }) => acceptedIds.has(messageId)).map(toEmail)
    },
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const toEmail = ({ messageId, from, replyTo, destination, subject, body, at }: StoredEmail): Email => ({
  message_id: messageId,
  from,
  to: destination.to,
  reply_to: replyTo,
  subject,
  text: body.text ?? null,
  at: new Date(at * 1000).toISOString(),
})
