import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'

/** A header is all that the engine requires of a request; computing a signature takes a fifth of the time of a request. */
const AUTHORIZATION =
  'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=0'

/** Settings of a client of the DynamoDB engine. */
export const ENGINE_ACCESS: DynamoDBClientConfig = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  signer: {
    sign: async (request) => {
      Object.assign(request.headers, { authorization: AUTHORIZATION, 'x-amz-date': '20260101T000000Z' })
      return request
    },
  },
}
