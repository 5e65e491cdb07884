import type { APIGatewayProxyEvent } from 'aws-lambda'
import { ApiError } from '../api/errors.ts'
import type { Middleware } from './call.ts'
import { etagOf } from './entity-tag.ts'
import { ifMatchTags } from './headers.ts'

/** Reads the header if-match. The endpoint compares it, when it has read the record that it changes. */
export function readIfMatch(): Middleware {
  return {
    before: ({ event, context: { call } }) => {
      const tags = validTags(event)
      if (tags === undefined || tags === '*') return
      call.checkIfMatch = (current) => {
        if (!tags.includes(etagOf(JSON.stringify(current)))) throw new ApiError('precondition_failed')
      }
    },
  }
}

function validTags(event: APIGatewayProxyEvent): ReturnType<typeof ifMatchTags> {
  try {
    return ifMatchTags(event)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const issue = 'must be * or a list of etags, each in double quotes'
    throw new ApiError('invalid_params', { details: [{ field: 'if-match', issue }] })
  }
}
