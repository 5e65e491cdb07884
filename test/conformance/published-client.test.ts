/** The requests of the published Python client (`wioclinic` on PyPI), as they were recorded, succeed over HTTP. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { send } from '../support/local-stack.ts'
import { REQUESTS, runSession } from './published-client/session.ts'

let session: Awaited<ReturnType<typeof runSession>>

beforeAll(async () => {
  session = await runSession()
})
afterAll(() => session.stack.close())

it('every request succeeds', async () => {
  const { stack, values } = session
  const fill = (text: string) =>
    text.replaceAll(/\$(\w+)/g, (_, name) =>
      name === 'new' ? crypto.randomUUID() : (values[name] ?? `missing ${name}`),
    )
  const outcomes = []
  for (const { call, method, target, headers, body, keeps } of REQUESTS) {
    const filled = Object.entries(headers).map(([name, value]) => [name, fill(value)])
    const answer = await send(`${stack.api}${fill(target)}`, {
      method,
      headers: Object.fromEntries(filled),
      ...(body !== '' && { body: fill(body) }),
    })
    for (const [name, path] of Object.entries(keeps))
      values[name] = path.split('.').reduce((value, step) => value?.[step], answer.body?.data)
    outcomes.push([call, answer.status < 300 ? 'succeeds' : `${answer.status} ${answer.text}`])
  }
  expect(outcomes).toEqual(REQUESTS.map(({ call }) => [call, 'succeeds']))
})
