import { expect, it } from 'vitest'
import { authenticate } from '../../../shared/http/authenticate.ts'

/** The keys that are reported, and what is kept for the log line. */
async function refuse(authorization: string) {
  const refused: string[] = []
  const call: { refusedKey?: string } = {}
  const { before } = authenticate(
    async () => null,
    (key) => refused.push(key),
  )
  const request = { event: { multiValueHeaders: { Authorization: [authorization] } }, context: { call } }
  await expect((async () => before?.(request as never))()).rejects.toThrow()
  return { refused, logged: call.refusedKey }
}

it('reports and logs the key of a refused request when it has the form of an issued one', async () => {
  expect(await refuse('Developer ck_a_0123:secret')).toEqual({ refused: ['ck_a_0123'], logged: 'ck_a_0123' })
})

it('neither reports nor logs another key, because it may be anything', async () => {
  expect(await refuse('Developer ada.lang:secret')).toEqual({ refused: [], logged: undefined })
})
