/** Tells rows that sum up the rows above them from records. */

const WORD =
  '(?:sub|zwischen|gesamt|del|slut|eind)?(?:totale?s?|totalt|totaux|totaal|totaalbedrag|summe?|summa|suma|somma|soma)|sum|somme|gesamt|' +
  'insgesamt|razem|ogółem|łącznie|toplam|összesen|celkem|spolu|ukupno|skupaj|yhteensä|i alt'

const WITH =
  'grand|sub|net|gross|overall|general|général|générale?|generale|generaal|geral|netto|brutto|bruto|amount|due|ttc|ht|complessivo|algemeen'

/** A label that is nothing but a sum. */
const SUM = new RegExp(`^(?:(?:${WITH}) )*(?:${WORD})(?: (?:${WITH}))*[\\s:=]*$`, 'iu')

/** A label that may be a sum, or the name of something, such as `Total care`. */
const MAYBE_SUM = new RegExp(`(?<!\\p{L})(?:${WORD})(?!\\p{L})`, 'iu')

const NUMBER = /^[^\p{L}]*\d[^\p{L}]*\p{L}{0,3}$/u

type Sums = { rows: number; readonly columns: number[] }

/** The sums of the columns of a file so far, in hundredths. */
export class ColumnSums {
  readonly #all: Sums = { rows: 0, columns: [] }
  #sinceSum: Sums = { rows: 0, columns: [] }

  /** Whether a row sums up the rows before it. Adds the row to them if it does not. */
  isSum(cells: readonly string[]): boolean {
    const isSum = this.#isSum(cells)
    if (isSum) this.#sinceSum = { rows: 0, columns: [] }
    else for (const sums of [this.#all, this.#sinceSum]) add(sums, cells)
    return isSum
  }

  #isSum(cells: readonly string[]): boolean {
    const filled = [...cells.entries()].filter(([, cell]) => cell.trim() !== '')
    const [[, label = ''] = [], ...numbers] = filled
    if (!MAYBE_SUM.test(label) || !numbers.every(([, cell]) => NUMBER.test(cell.trim()))) return false
    if (SUM.test(label.trim()) && (numbers.length < 2 || filled.length < cells.length)) return true
    return [this.#all, this.#sinceSum].some(
      ({ rows, columns }) =>
        rows > 1 &&
        numbers.length > 0 &&
        numbers.every(([at, cell]) => [columns[at], rows * 100].includes(hundredths(cell))),
    )
  }
}

function add(sums: Sums, cells: readonly string[]): void {
  sums.rows++
  for (const [at, cell] of cells.entries())
    if (NUMBER.test(cell.trim())) sums.columns[at] = (sums.columns[at] ?? 0) + hundredths(cell)
}

/** An amount in any notation: its decimals are the last one or two digits after a separator. */
function hundredths(cell: string): number {
  const [, whole = '', fraction = ''] = /^(.*?)(?:[.,](\d{1,2}))?$/.exec(cell.replace(/[^\d.,]/g, '')) ?? []
  const amount = Number(`${whole.replace(/\D/g, '')}${fraction.padEnd(2, '0')}`)
  return /[-−–(]/.test(cell) ? -amount : amount
}
