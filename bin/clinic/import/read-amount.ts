const NUMBER = {
  comma: /^-?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?$/,
  point: /^-?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?$/,
}

/** An amount as a plain decimal, without currency signs and separators of thousands; null if it is no such number. */
export function readAmount(text: string, decimal: 'comma' | 'point'): string | null {
  const bare = text.replace(/[\p{Sc}\s']/gu, '').replace(/^(-?)[A-Z]{2,3}|[A-Z]{2,3}$/g, '$1')
  if (!NUMBER[decimal].test(bare)) return null
  return decimal === 'comma' ? bare.replaceAll('.', '').replace(',', '.') : bare.replaceAll(',', '')
}
