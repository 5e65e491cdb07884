/** Replaces functions of the SDK in the bundles of functions (left-out.ts): Lambda passes all that they look for in the environment. */

type Credentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** Replaces the SDK's chain of credential providers, which is a fifth of a bundle. */
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

type Setting<Value> = {
  readonly environmentVariableSelector: (environment: NodeJS.ProcessEnv) => Value | undefined
  readonly default: Value | (() => Promise<Value>)
}

/** Replaces the loader of settings, which looks for files of the AWS CLI before it uses a default. */
export function loadConfig<Value>({ environmentVariableSelector, default: fallback }: Setting<Value>) {
  const load = async () =>
    environmentVariableSelector(process.env) ?? (fallback instanceof Function ? fallback() : fallback)
  let value: Promise<Value> | undefined
  return (): Promise<Value> => {
    value ??= load()
    return value
  }
}

type EndpointParameters = {
  readonly Endpoint?: string
  readonly Region?: string
  readonly UseFIPS?: boolean
  readonly UseDualStack?: boolean
}

/** The domains of partitions other than the usual one, by the beginning of their regions' names. */
const DOMAINS = [
  ['cn-', 'amazonaws.com.cn'],
  ['eusc-', 'amazonaws.eu'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['us-isof-', 'csp.hci.ic.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
] as const

/** Replaces the rules for the endpoint of a service: each client interprets its own, at every start. */
export const endpointResolver =
  (service: string) =>
  ({ Endpoint, Region = '', UseFIPS, UseDualStack }: EndpointParameters) => {
    if (UseFIPS || UseDualStack) throw new Error('FIPS and dual-stack endpoints are left out of bundles.')
    const domain = DOMAINS.find(([start]) => Region.startsWith(start))?.[1] ?? 'amazonaws.com'
    return {
      url: new URL(Endpoint ?? `https://${service}.${Region}.${domain}`),
      properties: {},
      headers: {},
    }
  }
