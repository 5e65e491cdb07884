import type { ImportProgress } from './import/import-file.ts'

/** How often a bar is redrawn, and how often a plain line is written where there is no terminal. */
const REDRAW_MS = 100
const LINE_MS = 10_000

const BAR = 24

/** Shows on stderr how far an import is: a bar with rate and time left on a terminal, plain lines elsewhere. */
export function progressBar(name: string, size: number) {
  const terminal = process.stderr.isTTY === true
  const started = performance.now()
  let shown = started
  let drawn = false

  const erase = () => {
    if (drawn) process.stderr.write('\r\x1b[K')
    drawn = false
  }

  return {
    show: ({ bytes, rows }: ImportProgress): void => {
      const now = performance.now()
      if (now - shown < (terminal ? REDRAW_MS : LINE_MS)) return
      shown = now
      const text = progressText(name, size === 0 ? 1 : bytes / size, rows, (now - started) / 1000)
      erase()
      process.stderr.write(terminal ? text : `${text}\n`)
      drawn = terminal
    },
    say: (text: string): void => {
      erase()
      process.stderr.write(`${text}\n`)
    },
    done: erase,
  }
}

/** `patients.csv ████████░░░░ 34 %  34,000 rows  2,100/s  31 s left` */
export function progressText(name: string, share: number, rows: number, seconds: number): string {
  const filled = Math.round(Math.min(1, share) * BAR)
  const left = share > 0 ? Math.round((seconds / share) * (1 - share)) : 0
  const rate = seconds > 0 ? Math.round(rows / seconds) : 0
  const number = (value: number) => value.toLocaleString('en')
  return (
    `${name} ${'█'.repeat(filled)}${'░'.repeat(BAR - filled)} ${Math.floor(Math.min(1, share) * 100)} %` +
    `  ${number(rows)} rows  ${number(rate)}/s  ${duration(left)} left`
  )
}

const duration = (seconds: number): string =>
  seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
