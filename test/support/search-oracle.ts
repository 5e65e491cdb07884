/** The fields of a patient that search reads. */
export type SearchablePatient = { name: string; phone: string | null; email: string | null }

/** Accented letters and the plain letters people type for them; a table, so that it shares no code with `fold`. */
const PLAIN_LETTERS: Record<string, string> = {
  ...Object.fromEntries([...'àáâãäåāăą'].map((letter) => [letter, 'a'])),
  ...Object.fromEntries([...'çćč'].map((letter) => [letter, 'c'])),
  ...Object.fromEntries([...'èéêëēęễ'].map((letter) => [letter, 'e'])),
  ...Object.fromEntries([...'ìíîïıİI'].map((letter) => [letter, 'i'])),
  ...Object.fromEntries([...'òóôõöøō'].map((letter) => [letter, 'o'])),
  ...Object.fromEntries([...'ùúûüū'].map((letter) => [letter, 'u'])),
  ğ: 'g',
  ł: 'l',
  ñ: 'n',
  ş: 's',
  ß: 'ss',
}

const toPlain = (text: string): string =>
  [...text.replaceAll('İ', 'i').replaceAll("'", '').toLowerCase().normalize('NFC')]
    .map((letter) => PLAIN_LETTERS[letter] ?? letter)
    .join('')

/**
 * Reports whether search must find a patient, without using the index. Every word must occur in the name, the digits
 * or the email. A query of at least three digits and punctuation is one number, without its dialling zeros.
 */
export function shouldMatch({ name, phone, email }: SearchablePatient, query: string): boolean {
  const normalized = toPlain(query).trim()
  // `+49 (0)30` is a common way to write a number for callers at home and abroad.
  const dialled =
    normalized.startsWith('+') || normalized.startsWith('00') ? normalized.replace('(0)', '') : normalized
  const digits = [...dialled].filter((letter) => letter >= '0' && letter <= '9').join('')
  const number = [...(phone ?? '')].filter((letter) => letter !== '+').join('')
  if (digits.length >= 3 && [...normalized].every((letter) => '0123456789 +-().'.includes(letter))) {
    const zeros = digits.startsWith('00') ? 2 : digits.startsWith('0') ? 1 : 0
    return number.includes(digits.length - zeros >= 3 ? digits.slice(zeros) : digits)
  }
  const fields = [toPlain(name), number, toPlain(email ?? '')]
  // Nothing is left of an apostrophe.
  if (normalized === '') return false
  return normalized.split(/ +/).every((word) => fields.some((field) => field.includes(word)))
}
