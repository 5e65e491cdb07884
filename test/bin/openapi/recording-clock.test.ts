import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { RECORDING_START, recordingNodeOptions } from '../../../bin/openapi/recording-clock.ts'

const TIMES =
  'Date.now(), +new Date(), Date.parse(new Date().toJSON()), +new Date(0), new Date() instanceof Date'

/** Prints the times of a process, and of a thread that gets the process's options as functions do. */
const PROGRAM = `
  const print = 'console.log(JSON.stringify([${TIMES}]))'
  eval(print)
  const { Worker } = require('node:worker_threads')
  const env = { NODE_OPTIONS: process.env.NODE_OPTIONS }
  new Worker(new URL('data:text/javascript,' + print), { execArgv: [], env })
`

it('runs processes and their threads from the start of the recording', () => {
  const start = Date.parse(RECORDING_START)
  const output = execFileSync(process.execPath, ['--eval', PROGRAM], {
    env: { ...process.env, NODE_OPTIONS: recordingNodeOptions(Date.now()) },
    encoding: 'utf8',
  })
  const lines = output.trim().split('\n')
  expect(lines).toHaveLength(2)
  for (const line of lines) {
    const [now, date, json, epoch, isDate] = JSON.parse(line) as [number, number, number, number, boolean]
    for (const time of [now, date, json]) {
      expect(time).toBeGreaterThanOrEqual(start)
      expect(time).toBeLessThan(start + 60 * 60_000)
    }
    expect(epoch).toBe(0)
    expect(isDate).toBe(true)
  }
})
