import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { onProcessExit } from '../process/on-exit.ts'
import type { SynthesizedStack } from './stacks.ts'
import type { Template } from './template.ts'

export const PROJECT = join(import.meta.dirname, '..', '..', '..')

/** The output of `cdk synth`: the stack with the API, and the code of its functions. */
export type Assembly = SynthesizedStack & {
  /** The app's other stacks, which are deployed with it. */
  readonly otherStacks: readonly SynthesizedStack[]
  /** The directory of an asset, by its key in the bootstrap bucket. */
  readonly assetDirectory: (s3Key: string) => string
  readonly dispose: () => Promise<void>
}

type Manifest = {
  readonly artifacts: Readonly<
    Record<string, { readonly type: string; readonly properties: Readonly<Record<string, string>> }>
  >
}
type AssetManifest = {
  readonly files: Readonly<Record<string, { readonly source: { readonly path: string } }>>
}

/** Context values of the CDK app: the stage and its settings. `null` is no value, whatever the stage's file says. */
export type AppContext = { readonly stage: string } & Readonly<Record<string, string | null>>

/**
 * Runs the CDK app as the CLI does. The output goes to a temporary directory outside the project, because the
 * project's package.json would make Node load the CommonJS bundles as ES modules.
 * @throws Error with the app's error message, without stack frames
 */
export async function synthesize(context: AppContext, signal?: AbortSignal): Promise<Assembly> {
  const directory = await mkdtemp(join(tmpdir(), 'clinic-local-'))
  const release = onProcessExit(() => rmSync(directory, { recursive: true, force: true }))
  const dispose = async () => {
    await rm(directory, { recursive: true, force: true })
    release()
  }
  try {
    await synthesizeInto(directory, context, signal)
    return { ...(await readAssembly(directory)), dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

/**
 * Runs the CDK app into a directory that the caller owns.
 * @throws Error with what the app said, without its stack
 */
export async function synthesizeInto(
  directory: string,
  overrides: AppContext,
  signal?: AbortSignal,
): Promise<void> {
  const { context }: { context?: object } = JSON.parse(await readFile(join(PROJECT, 'cdk.json'), 'utf8'))
  const child = spawn(process.execPath, [join('bin', 'app.ts')], {
    cwd: PROJECT,
    env: {
      ...process.env,
      // Node compares the content of the modules that it has compiled before.
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(PROJECT, 'node_modules/.cache/compiled'),
      // The app bundles its functions in a way that takes less time.
      LOCAL_BUNDLES: 'on',
      CDK_OUTDIR: directory,
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, ...overrides }),
      // The rules of CloudFormation matter when the stack is deployed, and checking them takes more than half the time.
      CDK_VALIDATION: 'false',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  // The directory may be removed only after the app has exited, which spawn's `signal` option does not wait for.
  const kill = () => child.kill('SIGKILL')
  signal?.addEventListener('abort', kill)
  if (signal?.aborted) kill()
  const release = onProcessExit(kill)
  const [code] = await once(child, 'close')
  release()
  signal?.removeEventListener('abort', kill)
  if (code !== 0)
    throw new Error(`Synthesis of the stack failed.\n${summarizeError(stderr) || `Exit code ${code}.`}`)
}

/** The lines before the first stack frame. */
function summarizeError(stderr: string): string {
  const lines = stripVTControlCharacters(stderr)
    .replace(/^node:internal.*\n.*\n\s*\^\n/m, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('Node.js v'))
  const frame = lines.findIndex((line) => /^\s+at /.test(line))
  return (frame === -1 ? lines : lines.slice(0, frame)).slice(-12).join('\n')
}

/** @throws Error that names the stacks unless exactly one of them has a REST API */
export async function readAssembly(directory: string): Promise<Omit<Assembly, 'dispose'>> {
  const read = async <T>(file: string): Promise<T> =>
    JSON.parse(await readFile(join(directory, file), 'utf8'))
  const { artifacts } = await read<Manifest>('manifest.json')
  const artifactsOfType = (type: string) =>
    Object.entries(artifacts).filter(([, artifact]) => artifact.type === type)

  const stacks = await Promise.all(
    artifactsOfType('aws:cloudformation:stack').map(async ([stackName, { properties }]) => ({
      stackName,
      template: await read<Template>(properties.templateFile ?? ''),
    })),
  )
  const [main, ...more] = stacks.filter(({ template }) => hasApi(template))
  if (!main || more.length > 0)
    throw new Error(
      `${more.length + (main ? 1 : 0)} of the app's stacks (${stacks.map(({ stackName }) => stackName).join(', ')}) have a REST API; exactly one is supported.`,
    )

  const sources = new Map<string, string>()
  for (const [, manifest] of artifactsOfType('cdk:asset-manifest')) {
    const { files } = await read<AssetManifest>(manifest.properties.file ?? '')
    for (const [hash, { source }] of Object.entries(files)) sources.set(hash, source.path)
  }
  return {
    ...main,
    otherStacks: stacks.filter((stack) => stack !== main),
    assetDirectory: (s3Key) => {
      const source = sources.get(s3Key.replace(/\.zip$/, ''))
      if (!source) throw new Error(`No asset of the stack has the key ${s3Key}.`)
      return join(directory, source)
    },
  }
}

const hasApi = ({ Resources }: Template): boolean =>
  Object.values(Resources).some(({ Type }) => Type === 'AWS::ApiGateway::RestApi')
