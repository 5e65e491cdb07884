import { expect, it } from 'vitest'
import { runProgram } from './run-program.ts'

it('a program that does not end in time is killed, and the error has what it printed', async () => {
  const code = 'console.log("first"); console.error("second"); setInterval(() => {}, 1000)'
  await expect(runProgram(process.execPath, ['-e', code], { timeoutMs: 3000 })).rejects.toThrow(
    / did not end within 3 s\.\nfirst\nsecond\n$/,
  )
}, 60_000)
