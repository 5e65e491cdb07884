import { ERROR_KEYS, errorBody, errorEntry } from '../errors.ts'
import { detailFields } from './errors.ts'

/** One error, for programs that show it and people who translate it. */
export type PublishedError = {
  /** The code: what an error is about. */
  readonly error: string
  readonly status: number
  /** English; for people. */
  readonly text: string
  /** The form of `details`, as `[{field, issue}]`; null for an error that has none. */
  readonly details: string | null
}

/** Every error that the API answers, by its translation key: the `message` of its body. */
export function errorCatalogue(): { language: 'en'; errors: Record<string, PublishedError> } {
  const entries = ERROR_KEYS.map((key): [string, PublishedError] => {
    const fields = detailFields(key)
    const { error, status, text } = errorEntry(key)
    return [errorBody(key).message, { error, status, text, details: fields && `[{${fields.join(', ')}}]` }]
  })
  return { language: 'en', errors: Object.fromEntries(entries) }
}
