import {
  type AppContext,
  type Assembly,
  readAssembly,
  synthesizeInto,
} from '../../infra/local/template/synthesize.ts'
import { oncePerRun } from './once-per-run.ts'

/** The output folder of the synthesized app, which all test files of the run share. */
export function sharedAssemblyFolder(context: AppContext): Promise<string> {
  const name = ['assembly', ...Object.values(context)].join('-')
  return oncePerRun(name, (folder) => synthesizeInto(folder, context))
}

/** The synthesized stack in that folder, as `startLocalStack` takes it. */
export async function sharedAssembly(context: AppContext): Promise<Assembly> {
  return { ...(await readAssembly(await sharedAssemblyFolder(context))), dispose: async () => {} }
}
