import type { Command } from 'commander'

/** Interval between redraws of the bar on a terminal, and between lines elsewhere. */
const REDRAW_MS = 100
const LINE_MS = 10_000

const BAR_WIDTH = 24

/** `bytes` of `size` are done. An export counts rows in place of bytes. */
type Progress = { readonly bytes: number; readonly rows: number }

/** Prints the progress of an import or export to stderr: a bar with rate and time left on a terminal, lines elsewhere. */
export function progressBar(command: Command, name: string, size: number) {
  const terminal = process.stderr.isTTY === true
  const write = (text: string) => command.configureOutput().writeErr?.(text)
  let started = performance.now()
  let lastShownAt = started
  let isDrawn = false

  const erase = () => {
    if (isDrawn) write('\r\x1b[K')
    isDrawn = false
  }

  return {
    show: ({ bytes, rows }: Progress): void => {
      const now = performance.now()
      if (now - lastShownAt < (terminal ? REDRAW_MS : LINE_MS)) return
      lastShownAt = now
      const text = progressText(name, size === 0 ? 1 : bytes / size, rows, (now - started) / 1000)
      erase()
      write(terminal ? text : `${text}\n`)
      isDrawn = terminal
    },
    printLine: (text: string): void => {
      erase()
      write(`${text}\n`)
    },
    /** Excludes the time before from the rate and the time left. */
    restartClock: (): void => {
      started = performance.now()
      lastShownAt = started
    },
    done: erase,
  }
}

/** `patients.csv ████████░░░░ 34 %  34,000 rows  2,100/s  31 s left`, without rate and time left before anything was read. */
export function progressText(name: string, share: number, rows: number, seconds: number): string {
  const filled = Math.round(Math.min(1, share) * BAR_WIDTH)
  const number = (value: number) => value.toLocaleString('en')
  const read =
    `${name} ${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${Math.floor(Math.min(1, share) * 100)} %` +
    `  ${number(rows)} ${rows === 1 ? 'row' : 'rows'}`
  if (share === 0 || rows === 0) return read
  const left = Math.round((seconds / share) * (1 - share))
  const rate = seconds > 0 ? Math.round(rows / seconds) : 0
  return `${read}  ${number(rate)}/s  ${duration(left)} left`
}

const duration = (seconds: number): string =>
  seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
