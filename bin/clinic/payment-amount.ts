import { currencyDecimals } from '../../shared/domain/currencies.ts'
import { isTooLarge, parseDecimal } from '../../shared/domain/money.ts'
import { CommandFailure } from './output.ts'

/** `--amount` in minor units of a currency. @throws CommandFailure unless it is positive */
export function amountOf(
  given: { readonly amount: string; readonly type: string },
  currency: string,
): number {
  const decimals = currencyDecimals(currency)
  const amount = parseDecimal(given.amount, decimals)
  if (amount === null && isTooLarge(given.amount, decimals)) throw new CommandFailure('--amount is too large')
  if (amount !== null && amount < 0 && given.type === 'refund')
    throw new CommandFailure('--amount of a refund is written without a minus sign')
  if (amount === null || amount <= 0) {
    throw new CommandFailure(
      `--amount must be a positive number with at most ${decimals} decimals in ${currency}`,
    )
  }
  return amount
}
