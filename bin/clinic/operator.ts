import { userInfo } from 'node:os'
import type { Command } from 'commander'
import type { GlobalOptions } from './output.ts'

/** Who runs the tool, as the ledger of erasures names them: the user of this machine, or `local` on a local stack. */
export const operatorOf = (command: Command): string =>
  command.optsWithGlobals<GlobalOptions>().stack === undefined ? 'local' : userInfo().username
