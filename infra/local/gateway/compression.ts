import { deflateSync, gzipSync } from 'node:zlib'
import type { ResolvedTemplate } from '../template/template.ts'
import { openApiBodies } from './open-api.ts'
import type { HttpResponse } from './response.ts'

/** The size in bytes from which the API compresses responses, if it does. */
export const minCompressionSizeOf = (template: ResolvedTemplate): number | undefined =>
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

/** The first coding with the greatest weight. */
const preferredCoding = (rawHeaders: readonly string[]): string | undefined =>
  choicesOf(rawHeaders, 'accept-encoding').sort(([, one], [, other]) => other - one)[0]?.[0]

/** The values of a header, in the sent order. */
export const headerValues = (rawHeaders: readonly string[], wanted: string): string[] =>
  rawHeaders.filter((_value, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === wanted)

/** The choices of a header such as Accept in lower case, each with its weight. */
export function choicesOf(rawHeaders: readonly string[], header: string): [choice: string, weight: number][] {
  const [text] = headerValues(rawHeaders, header)
  return (text?.toLowerCase().split(',') ?? []).map((part) => {
    const [choice = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length)
    return [choice, Number(weight ?? 1)]
  })
}
