import { runOperatorTool } from '../../bin/clinic/program.ts'
import type { Ask } from '../../bin/clinic/tool/confirmation.ts'

/** Runs a command of the operator tool in this process. Returns its exit code and all that it writes. */
export async function runTool(args: readonly string[], env: Record<string, string> = {}, ask?: Ask) {
  const written = { printed: '', errors: '' }
  const code = await runOperatorTool(args, {
    env,
    writeOut: (text) => {
      written.printed += text
    },
    writeError: (text) => {
      written.errors += text
    },
    ask,
  })
  return { code, ...written }
}
