import { deflateSync, gzipSync } from 'node:zlib'
import type { ResolvedTemplate } from '../template/template.ts'
import { openApiBodies } from './open-api.ts'
import type { HttpResponse } from './response.ts'

type RestApiProperties = { readonly MinimumCompressionSize?: number }

/** The size in bytes from which the API compresses responses, if it does. */
export const minCompressionSizeOf = (template: ResolvedTemplate): number | undefined =>
  template.resourcesOf<RestApiProperties>('AWS::ApiGateway::RestApi')[0]?.properties.MinimumCompressionSize ??
  openApiBodies(template)[0]?.body['x-amazon-apigateway-minimum-compression-size']

/** A response as it is sent. */
export type EncodedResponse = Omit<HttpResponse, 'body'> & { readonly body: string | Buffer }

const CODINGS: Record<string, (body: string) => Buffer> = { gzip: gzipSync, deflate: deflateSync }

/**
 * Compresses as a REST API does with a MinimumCompressionSize (Developer Guide, "Receive an API response with a
 * compressed payload"): if the caller prefers gzip or deflate, and the function has not compressed the body itself.
 */
export function compress(
  httpResponse: HttpResponse,
  { rawHeaders }: { readonly rawHeaders: readonly string[] },
  minSize: number | undefined,
): EncodedResponse {
  const { headers, body } = httpResponse
  if (minSize === undefined || body === '' || Buffer.byteLength(body) < minSize) return httpResponse
  if (headers.some(([name]) => name.toLowerCase() === 'content-encoding')) return httpResponse
  const coding = preferredCoding(rawHeaders)
  const encode = coding && CODINGS[coding]
  if (!encode) return httpResponse
  return { ...httpResponse, headers: [...headers, ['Content-Encoding', coding]], body: encode(body) }
}

/** The first coding with the greatest weight; an empty string without the header. */
function preferredCoding(rawHeaders: readonly string[]): string | undefined {
  const at = rawHeaders.findIndex(
    (text, index) => index % 2 === 0 && text.toLowerCase() === 'accept-encoding',
  )
  if (at === -1) return undefined
  const choices = (rawHeaders[at + 1] ?? '').split(',').map((choice) => {
    const [coding = '', ...parameters] = choice.split(';').map((part) => part.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length)
    return { coding, weight: Number(weight ?? 1) }
  })
  return choices.sort((one, other) => other.weight - one.weight)[0]?.coding
}
