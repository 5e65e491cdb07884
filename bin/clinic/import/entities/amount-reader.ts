/** Decimals of an imported invoice, and why its row is rejected. */
import { currencyDecimals } from '../../../../shared/domain/money/currencies.ts'
import {
  isTooLarge,
  MAX_MINOR_UNITS,
  parseDecimal,
  RATIO_DECIMALS,
  renderMoney,
} from '../../../../shared/domain/money/money.ts'
import { RowRejectedError } from '../files/import-errors.ts'

export type AmountReader = ReturnType<typeof amountReader>
export type AmountPath = (string | number)[]

/** Reads decimals of one row, and collects what is wrong with them. */
export function amountReader(currency: string) {
  const decimals = currencyDecimals(currency)
  const issues: string[] = []
  let disagrees = false
  const issue = (path: AmountPath, message: string) => {
    issues.push(`${path.join('.')} ${message}`)
  }
  const read = (
    value: string | number | null | undefined,
    path: AmountPath,
    places: number,
    name: string,
  ): number | null => {
    if (value === null || value === undefined) return null
    const units = parseDecimal(value, places)
    if (units === null && isTooLarge(value, places)) issue(path, 'is too large')
    else if (units === null) issue(path, `must be a number with at most ${places} decimals${name}`)
    else if (units < 0) issue(path, 'must not be negative')
    return units ?? 0
  }
  /** Whether computed amounts can be stored exactly; otherwise each that cannot becomes an issue. */
  const areInRange = (amounts: Record<string, number>, path: AmountPath = []): boolean => {
    const outside = Object.entries(amounts).filter(([, value]) => Math.abs(value) > MAX_MINOR_UNITS)
    for (const [name] of outside) issue([...path, name], 'is too large')
    return outside.length === 0
  }
  return {
    issue,
    areInRange,
    money: (value: string | number | null | undefined, path: AmountPath) =>
      read(value, path, decimals, ` in ${currency}`),
    ratio: (value: string | number | null | undefined, path: AmountPath) =>
      read(value, path, RATIO_DECIMALS, ''),
    requireEqual: (field: string, stated: number, computed: number, how: string) => {
      if (stated === computed) return
      disagrees = true
      issue([field], `is ${renderMoney(stated, currency)}, but ${how} ${renderMoney(computed, currency)}`)
    },
    /** @throws RowRejectedError if there is an issue */
    rejectIssues: (keptColumns: readonly string[] = []) => {
      if (issues.length === 0) return
      if (disagrees && keptColumns.length > 0)
        issues.push(`without a column, the record keeps its ${keptColumns.join(', ')}: add what changes`)
      throw new RowRejectedError(issues.join('; '))
    },
  }
}
