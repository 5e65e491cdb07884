import { ResponseType } from 'aws-cdk-lib/aws-apigateway'
import { type ErrorKey, errorEntry } from '../../shared/api/error-catalogue.ts'
import { errorBody } from '../../shared/api/errors.ts'
import { SECURITY_HEADERS } from '../../shared/api/security-headers.ts'

/**
 * Renders the gateway's own errors in the API's error shape. No template uses the gateway's message, since that can
 * quote the Authorization header, the path or the query.
 */
const RESPONSES: [type: ResponseType, key: ErrorKey, retryAfter?: number][] = [
  // Unmatched paths. A REST API parses their Authorization header as an AWS signature, which fails in three ways.
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, 'route_not_found'],
  [ResponseType.INVALID_SIGNATURE, 'route_not_found'],
  [ResponseType.EXPIRED_TOKEN, 'route_not_found'],
  [ResponseType.ACCESS_DENIED, 'route_not_found'],
  [ResponseType.RESOURCE_NOT_FOUND, 'route_not_found'],
  [ResponseType.UNAUTHORIZED, 'unauthorized'],
  [ResponseType.INVALID_API_KEY, 'unauthorized'],
  [ResponseType.BAD_REQUEST_BODY, 'malformed_json'],
  [ResponseType.BAD_REQUEST_PARAMETERS, 'invalid_params'],
  [ResponseType.WAF_FILTERED, 'request_blocked'],
  [ResponseType.DEFAULT_4XX, 'invalid_params'],
  [ResponseType.REQUEST_TOO_LARGE, 'payload_too_large'],
  [ResponseType.UNSUPPORTED_MEDIA_TYPE, 'unsupported_media_type'],
  [ResponseType.THROTTLED, 'rate_limited', 1],
  [ResponseType.QUOTA_EXCEEDED, 'rate_limited', 60],
  [ResponseType.INTEGRATION_FAILURE, 'unavailable', 1],
  [ResponseType.INTEGRATION_TIMEOUT, 'timeout'],
  [ResponseType.API_CONFIGURATION_ERROR, 'internal'],
  [ResponseType.AUTHORIZER_CONFIGURATION_ERROR, 'internal'],
  [ResponseType.AUTHORIZER_FAILURE, 'internal'],
  [ResponseType.DEFAULT_5XX, 'internal'],
]

/** The gateway does not say what it could not read. */
const UNREADABLE = [
  { field: '', issue: 'is malformed, such as a query with a % that two hexadecimal digits do not follow' },
]

/** Literal values are quoted. */
const securityHeaders = Object.fromEntries(
  Object.entries(SECURITY_HEADERS).map(([name, value]) => [name, `'${value}'`]),
)

/** The value of `x-amazon-apigateway-gateway-responses`. */
export const GATEWAY_RESPONSES: Record<string, object> = Object.fromEntries(
  RESPONSES.map(([type, key, retryAfter]) => {
    const headers: Record<string, string> = {
      'x-request-id': 'context.extendedRequestId',
      'cache-control': "'no-store'",
      ...securityHeaders,
      ...(retryAfter && { 'retry-after': `'${retryAfter}'` }),
      // Without a policy: each endpoint has its own limit, but all share this response.
      ...(key === 'rate_limited' && { ratelimit: `'"gateway";r=0;t=${retryAfter}'` }),
    }
    const response = {
      statusCode: String(errorEntry(key).status),
      responseParameters: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [`gatewayresponse.header.${name}`, value]),
      ),
      responseTemplates: {
        'application/json': JSON.stringify(errorBody(key, key === 'invalid_params' ? UNREADABLE : undefined)),
      },
    }
    return [type.responseType, response]
  }),
)
