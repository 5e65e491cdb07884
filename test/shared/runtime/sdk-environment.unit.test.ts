import { expect, it, vi } from 'vitest'
import { defaultProvider, loadConfig } from '../../../shared/runtime/sdk-environment.ts'

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

it('returns a setting of the environment, or else its default', async () => {
  vi.stubEnv('AWS_REGION', 'eu-central-1')
  const setting = (name: string, fallback: string | (() => Promise<string>)) =>
    loadConfig({ environmentVariableSelector: (environment) => environment[name], default: fallback })()
  expect(await setting('AWS_REGION', 'us-east-1')).toBe('eu-central-1')
  expect(await setting('AWS_RETRY_MODE', 'standard')).toBe('standard')
  expect(await setting('AWS_RETRY_MODE', async () => 'legacy')).toBe('legacy')
})
