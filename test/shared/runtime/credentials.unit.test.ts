import { expect, it, vi } from 'vitest'
import { defaultProvider } from '../../../shared/runtime/credentials.ts'

const given = (values: Record<string, string | undefined>) => {
  const all = {
    AWS_ACCESS_KEY_ID: 'AKIA',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'token',
    ...values,
  }
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value)
  return defaultProvider()()
}

it('returns the credentials of the environment', async () => {
  expect(await given({})).toEqual({ accessKeyId: 'AKIA', secretAccessKey: 'secret', sessionToken: 'token' })
  expect(await given({ AWS_SESSION_TOKEN: undefined })).toEqual({
    accessKeyId: 'AKIA',
    secretAccessKey: 'secret',
  })
})

it.each(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])('throws an error without %s', async (name) => {
  await expect(given({ [name]: undefined })).rejects.toThrow(`${name} is not set`)
})
