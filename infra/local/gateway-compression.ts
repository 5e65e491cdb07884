import { deflateSync, gzipSync } from 'node:zlib'
import type { Answer } from './gateway-response.ts'
import type { OpenTemplate } from './template.ts'

type Sizes = { readonly MinimumCompressionSize?: number }

/** Bytes from which the API compresses answers, if it does. */
export const compressionOf = (template: OpenTemplate): number | undefined =>
  template.of<Sizes>('AWS::ApiGateway::RestApi')[0]?.properties.MinimumCompressionSize

/** An answer as it goes over the wire. */
export type Encoded = Omit<Answer, 'body'> & { readonly body: string | Buffer }

const CODINGS: Record<string, (body: string) => Buffer> = { gzip: gzipSync, deflate: deflateSync }

/**
 * Compresses as a REST API does with a MinimumCompressionSize (Developer Guide, "Receive an API response with a
 * compressed payload"): when the caller's first choice is gzip or deflate, and the function has not done it itself.
 */
export function compress(
  answer: Answer,
  { rawHeaders }: { readonly rawHeaders: readonly string[] },
  from: number | undefined,
): Encoded {
  const { headers, body } = answer
  if (from === undefined || body === '' || Buffer.byteLength(body) < from) return answer
  if (headers.some(([name]) => name.toLowerCase() === 'content-encoding')) return answer
  const coding = firstChoice(rawHeaders)
  const encode = coding && CODINGS[coding]
  if (!encode) return answer
  return { ...answer, headers: [...headers, ['Content-Encoding', coding]], body: encode(body) }
}

/** The coding with the greatest weight, of several the first; an empty one without the header. */
function firstChoice(rawHeaders: readonly string[]): string | undefined {
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
