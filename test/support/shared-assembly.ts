import { type AppContext, type Assembly, readAssembly, synthesizeInto } from '../../infra/local/synthesize.ts'
import { oncePerRun } from './once-per-run.ts'

/** The synthesized stack, which all test files of the run share. */
export async function sharedAssembly(context: AppContext): Promise<Assembly> {
  const name = ['assembly', ...Object.values(context)].join('-')
  const directory = await oncePerRun(name, (folder) => synthesizeInto(folder, context))
  return { ...(await readAssembly(directory)), dispose: async () => {} }
}
