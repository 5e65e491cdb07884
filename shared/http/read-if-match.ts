import type { APIGatewayProxyEvent } from 'aws-lambda'
import { ApiError } from '../api/errors.ts'
import { acceptsIfMatch, type Route } from '../api/route.ts'
import type { ApiCall } from './call.ts'
import { etagOf } from './entity-tag.ts'
import { headerValues } from './headers.ts'

/** An entity tag (RFC 9110, 8.8.3), and what separates it from the next of a list. Tags may contain commas. */
const LISTED_TAG = /(W\/)?"[\x21\x23-\x7e\x80-\xff]*"[ \t]*(?:,[ \t,]*|$)/gy

/**
 * Reads the header if-match. The endpoint compares it, when it has read the record that it changes. A write that ignored the
 * condition would do what its caller excluded, so an endpoint that cannot compare it rejects it.
 */
export function readIfMatch(route: Route, event: APIGatewayProxyEvent): ApiCall['checkIfMatch'] {
  const tags = ifMatchTags(event)
  if (tags !== undefined && !acceptsIfMatch(route)) throw invalidIfMatch('is not supported by this endpoint')
  return (current) => {
    if (tags === undefined || tags === '*') return
    if (!tags.includes(etagOf(current()))) throw new ApiError('precondition_failed')
  }
}

/**
 * The strong tags of if-match (RFC 9110, 13.1.1), `*` for any; undefined if it was not sent. Weak tags are left out, because
 * they never match.
 */
function ifMatchTags(event: APIGatewayProxyEvent): '*' | readonly string[] | undefined {
  const list = listIn(event)
  if (list === undefined || list === '*') return list
  const tags = [...list.matchAll(LISTED_TAG)]
  if (list === '' || tags.map(([tag]) => tag).join('') !== list)
    throw invalidIfMatch('must be * or a list of etags, each in double quotes')
  return tags.filter(([, weak]) => weak === undefined).map(([tag]) => tag.slice(0, tag.lastIndexOf('"') + 1))
}

/** Whether a request has an if-match other than `*`, valid or not. */
export function namesEtags(event: APIGatewayProxyEvent): boolean {
  const list = listIn(event)
  return list !== undefined && list !== '*'
}

/** All values of the header as one list. */
function listIn(event: APIGatewayProxyEvent): string | undefined {
  const values = headerValues(event, 'if-match')
  return values.length === 0 ? undefined : values.join(',').replace(/^[ \t,]+|[ \t]+$/g, '')
}

const invalidIfMatch = (issue: string): ApiError =>
  new ApiError('invalid_params', { details: [{ field: 'if-match', issue }] })
