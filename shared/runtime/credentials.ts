/**
 * In the bundles of functions, this is `@aws-sdk/credential-provider-node` (infra/functions/bundles.ts): Lambda passes the credentials of a
 * function in its environment, and the SDK's other ways to find some are a quarter of a bundle.
 */

type Credentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** Named like the SDK's function. The clients of the SDK import it. */
export const defaultProvider = () => async (): Promise<Credentials> => ({
  accessKeyId: required('AWS_ACCESS_KEY_ID'),
  secretAccessKey: required('AWS_SECRET_ACCESS_KEY'),
  ...(process.env.AWS_SESSION_TOKEN && { sessionToken: process.env.AWS_SESSION_TOKEN }),
})

function required(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`${name} is not set`)
  return value
}
