// biome-ignore lint/style/noRestrictedImports: the file that the rule refers to.
import { mockClient as mock } from 'aws-sdk-client-mock'
import { afterAll } from 'vitest'

/** Mocks an AWS client, or all clients of a class, until the end of the test file. Call it outside of tests and hooks. */
export const mockClient: typeof mock = (client, options) => {
  const mocked = mock(client, options)
  afterAll(() => mocked.restore())
  return mocked
}
