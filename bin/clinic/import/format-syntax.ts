/** Whether a map's formats of dates and times say enough. */
import { TOKEN } from './format-patterns.ts'

const tokensOf = (format: string): string[] => format.match(TOKEN) ?? []

export const isDateFormat = (format: string): boolean =>
  /^(D|DD) (M|MM|MMM) YYYY$/.test(tokensOf(format).sort().join(' '))

export function isTimeFormat(format: string): boolean {
  const tokens = tokensOf(format)
  const count = (...wanted: string[]) => tokens.filter((token) => wanted.includes(token)).length
  return (
    count('H', 'HH') + count('h', 'hh') === 1 &&
    count('mm') === 1 &&
    count('a') === count('h', 'hh') &&
    count('ss') <= 1 &&
    count('Z') <= 1 &&
    tokens.length === 2 + count('ss', 'a', 'Z')
  )
}
