import { ERROR_KEYS, errorEntry } from '../api/error-catalogue.ts'
import { errorBody } from '../api/errors.ts'
import { detailFields } from './errors.ts'

/** An error as published in errors.json, for programs that display it and for translators. */
export type PublishedError = {
  /** The error code, e.g. `NOT_FOUND`. */
  readonly error: string
  readonly status: number
  /** A human-readable message in English. */
  readonly text: string
  /** The shape of `details`, such as `[{field, issue}]`; null for an error without details. */
  readonly details: string | null
}

/** Every error that the API returns, by its translation key: the `message` of its body. */
export function publishedErrors(): { language: 'en'; errors: Record<string, PublishedError> } {
  const entries = ERROR_KEYS.map((key): [string, PublishedError] => {
    const fields = detailFields(key)
    const { error, status, text } = errorEntry(key)
    return [errorBody(key).message, { error, status, text, details: fields && `[{${fields.join(', ')}}]` }]
  })
  return { language: 'en', errors: Object.fromEntries(entries) }
}
