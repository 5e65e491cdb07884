import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'

export type Credentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

const CONTENT_TYPE = 'application/x-amz-json-1.0'

/** Signs calls of DynamoDB (Signature Version 4). The key of a day is derived once. */
export function signer(host: string, region: string) {
  let derived: { readonly of: string; readonly key: KeyObject } | undefined

  function keyOf(secret: string, day: string): KeyObject {
    const of = `${day} ${secret}`
    if (derived?.of !== of) {
      const key = [day, region, 'dynamodb', 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${secret}`)
      derived = { of, key: createSecretKey(key as Buffer) }
    }
    return derived.key
  }

  return (operation: string, body: string, credentials: Credentials, now: Date) => {
    const { accessKeyId, secretAccessKey, sessionToken } = credentials
    const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
    const scope = `${time.slice(0, 8)}/${region}/dynamodb/aws4_request`
    const headers: Record<string, string> = {
      'content-type': CONTENT_TYPE,
      host,
      'x-amz-date': time,
      ...(sessionToken !== undefined && { 'x-amz-security-token': sessionToken }),
      'x-amz-target': `DynamoDB_20120810.${operation}`,
    }
    const names = Object.keys(headers)
    const signed = names.join(';')
    const lines = names.map((name) => `${name}:${headers[name]}\n`).join('')
    const canonical = `POST\n/\n\n${lines}\n${signed}\n${sha256(body)}`
    const toSign = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(canonical)}`
    const signature = hmac(keyOf(secretAccessKey, time.slice(0, 8)), toSign).toString('hex')
    headers.authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signed}, Signature=${signature}`
    headers['content-length'] = String(Buffer.byteLength(body))
    return headers
  }
}

const sha256 = (text: string): string => hash('sha256', text, 'hex')

const hmac = (key: Buffer | KeyObject | string, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()
