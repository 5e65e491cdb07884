import { fold } from '../../shared/domain/search-text.ts'

/** What a patient is known by. */
export type Known = { name: string; phone: string | null; email: string | null }

/**
 * Whether search must find a patient, written without the index: every word in the name, the digits or the email; a
 * query of three digits or more and punctuation alone is one number.
 */
export function mustFind({ name, phone, email }: Known, query: string): boolean {
  const folded = fold(query).trim()
  const digits = folded.replace(/\D/g, '')
  const number = (phone ?? '').replace('+', '')
  if (digits.length >= 3 && /^[\d\s()+./-]*$/.test(folded)) return number.includes(digits.replace(/^00?/, ''))
  const fields = [fold(name), number, fold(email ?? '')]
  return folded.split(/\s+/).every((word) => fields.some((field) => field.includes(word)))
}
