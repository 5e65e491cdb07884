import type { Command } from 'commander'

/** Interval between two texts on a terminal, where each replaces the last, and between lines elsewhere. */
const REDRAW_MS = 100
const LINE_MS = 10_000

/** Prints the progress of a long command to stderr, such as `patients.csv 34 %  34,000 rows`, or without a percentage. */
export function progressBar(command: Command, name: string, total?: number) {
  const terminal = process.stderr.isTTY === true
  const write = (text: string) => command.configureOutput().writeErr?.(text)
  let lastShownAt = performance.now()
  let isDrawn = false

  const erase = () => {
    if (isDrawn) write('\r\x1b[K')
    isDrawn = false
  }

  return {
    show: (rows: number): void => {
      const now = performance.now()
      if (now - lastShownAt < (terminal ? REDRAW_MS : LINE_MS)) return
      lastShownAt = now
      const share = total === undefined ? '' : `${Math.min(100, Math.floor((100 * rows) / (total || 1)))} %  `
      const text = `${name} ${share}${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`
      erase()
      write(terminal ? text : `${text}\n`)
      isDrawn = terminal
    },
    printLine: (text: string): void => {
      erase()
      write(`${text}\n`)
    },
    done: erase,
  }
}
