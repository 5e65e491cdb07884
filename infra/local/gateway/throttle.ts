import type { ResolvedTemplate } from '../template/template.ts'
import type { GatewayRoute } from './routes.ts'

/** Whether a request is within the limit. A REST API limits each method of a stage separately. */
export type Throttle = (route: GatewayRoute, method: string) => boolean

type Setting = {
  readonly ResourcePath: string
  readonly HttpMethod: string
  /** Requests per second, and burst. */
  readonly ThrottlingRateLimit?: number
  readonly ThrottlingBurstLimit?: number
}
type Bucket = { tokens: number; filledAt: number }

export function throttleOf(
  template: ResolvedTemplate,
  now: () => number = () => performance.now(),
): Throttle {
  const settings = template
    .resourcesOf<{ readonly MethodSettings?: readonly Setting[] }>('AWS::ApiGateway::Stage')
    .flatMap(({ properties }) => properties.MethodSettings ?? [])
  const buckets = new Map<string, Bucket>()
  return ({ resource }, method) => {
    const setting = settingFor(settings, resource, method)
    const { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst } = setting ?? {}
    if (rate === undefined || burst === undefined) return true
    const key = `${method} ${resource}`
    const bucket = buckets.get(key) ?? { tokens: burst, filledAt: now() }
    buckets.set(key, bucket)
    const at = now()
    bucket.tokens = Math.min(burst, bucket.tokens + ((at - bucket.filledAt) / 1000) * rate)
    bucket.filledAt = at
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }
}

/** The setting of the method of the request, or else of the stage: a setting for ANY applies to none. `~1` in a path is a slash. */
function settingFor(settings: readonly Setting[], resource: string, method: string): Setting | undefined {
  const path = (setting: Setting) => setting.ResourcePath.replaceAll('~1', '/').replace(/^\/\//, '/')
  const own = settings.find(
    (setting) => path(setting) === resource && [method, '*'].includes(setting.HttpMethod),
  )
  return own ?? settings.find(({ ResourcePath, HttpMethod }) => ResourcePath === '/*' && HttpMethod === '*')
}
