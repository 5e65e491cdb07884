/** Messages of the tool when the shell lacks settings for AWS. The errors come from the SDK itself. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { runTool } from '../../../support/operator-tool.ts'

/** The error that AWS responds with. */
let code = ''
const cloudFormation = createServer((_, response) => {
  response.statusCode = 403
  response.end(
    `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>The security token</Message></Error></ErrorResponse>`,
  )
})

beforeAll(async () => {
  await once(cloudFormation.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => void cloudFormation.close())

beforeEach(() => {
  const { port } = cloudFormation.address() as AddressInfo
  vi.stubEnv('AWS_ENDPOINT_URL_CLOUDFORMATION', `http://127.0.0.1:${port}`)
  for (const name of ['AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE']) vi.stubEnv(name, '/dev/null')
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
  for (const name of ['AWS_REGION', 'AWS_DEFAULT_REGION', 'AWS_PROFILE']) vi.stubEnv(name, undefined)
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, undefined)
})
afterEach(() => vi.unstubAllEnvs())

const listClinics = () => runTool(['--stack', 'clinic', 'clinic', 'list'])

it('names the variable when no region is set', async () => {
  expect(await listClinics()).toMatchObject({
    code: 2,
    errors: expect.stringMatching(/^No AWS region is set\. Set AWS_REGION/),
  })
})

it('names the variable when there are no credentials', async () => {
  vi.stubEnv('AWS_REGION', 'eu-central-1')
  expect(await listClinics()).toMatchObject({
    code: 2,
    errors: expect.stringMatching(/^No AWS credentials were found\. Set AWS_PROFILE/),
  })
})

it.each([
  ['ExpiredToken', /^The AWS credentials have expired\. Get new ones/],
  ['InvalidClientTokenId', /^AWS does not accept the credentials\. Check AWS_PROFILE/],
])('says what to do when AWS responds with %s', async (response, message) => {
  code = response
  vi.stubEnv('AWS_REGION', 'eu-central-1')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test')
  expect(await listClinics()).toMatchObject({ code: 2, errors: expect.stringMatching(message) })
})
