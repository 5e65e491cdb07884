import { createHash } from 'node:crypto'
import {
  type AppContext,
  type Assembly,
  readAssembly,
  synthesizeInto,
} from '../../infra/local/template/synthesize.ts'
import { oncePerRun } from './once-per-run.ts'

/** The output folder of the synthesized app, which all test files of the run share. */
function sharedAssemblyFolder(context: AppContext): Promise<string> {
  const digest = createHash('sha256').update(JSON.stringify(context)).digest('hex').slice(0, 16)
  const name = `assembly-${digest}`
  return oncePerRun(name, (folder) => synthesizeInto(folder, context))
}

/** The synthesized stack in that folder, as `startLocalStack` takes it. */
export async function sharedAssembly(context: AppContext): Promise<Assembly> {
  return { ...(await readAssembly(await sharedAssemblyFolder(context))), dispose: async () => {} }
}
