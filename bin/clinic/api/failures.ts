/** Failures of calls, as the catalogue of errors explains them. */
import { ERROR_KEYS, errorEntry } from '../../../shared/api/error-catalogue.ts'
import { ApiError, NoResponseError } from '../../../shared/clients/typescript/errors.ts'
import { REMEDIES } from '../../../shared/reference/remedies.ts'
import { CommandFailure, EXIT } from '../tool/output.ts'
import { cellOf } from './responses.ts'
import { optionName } from './values.ts'

/**
 * The failure of a call: what the catalogue says about it, and the options that were wrong.
 * @param key of the request, if one was sent
 */
export function callFailure(error: unknown, key: string | undefined): unknown {
  if (error instanceof TypeError) return new CommandFailure(error.message)
  if (!(error instanceof ApiError || error instanceof NoResponseError)) return error
  const response = error instanceof ApiError ? error : undefined
  const known = ERROR_KEYS.find((one) => one === response?.key)
  const lines = [
    known ? `${errorEntry(known).text} ${REMEDIES[known]}` : error.message,
    ...(response?.details.map(describeDetail) ?? []),
    known === 'missing_scope' ? '"credential create-temporary --scopes" makes a credential with others.' : '',
    response?.detailsOmitted ? `${response.detailsOmitted} more` : '',
    response?.retryAfter ? `Repeat it after ${response.retryAfter} seconds.` : '',
    error.mayHaveTakenEffect
      ? `The request may have taken effect. ${key ? `Repeat it with --idempotency-key ${key}` : 'Check before you repeat it.'}`
      : '',
    response?.requestId ? `Request ${response.requestId}` : '',
  ]
  const isUnreachable = !response || response.status >= 500 || response.status === 429
  const details = { ...(key && { idempotency_key: key }), ...(response && { details: response.details }) }
  return new CommandFailure(
    lines.filter(Boolean).join('\n'),
    isUnreachable ? EXIT.unreachable : EXIT.wrongInput,
    details,
  )
}

/** `--last-name is missing`; another detail as its fields. */
function describeDetail(detail: object): string {
  const { field, issue, ...rest } = detail as Readonly<Record<string, unknown>>
  return issue === undefined
    ? `  ${Object.entries(detail)
        .map(([name, value]) => `${name} ${cellOf(value)}`)
        .join(', ')}`
    : `  --${optionName(String(field))} ${issue}${Object.keys(rest).length > 0 ? `: ${cellOf(rest)}` : ''}`
}
