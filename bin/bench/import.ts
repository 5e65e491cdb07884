import { runTool } from './tool-run.ts'

export type ImportRun = {
  readonly seconds: number
  readonly peakMegabytes: number
  readonly cpuMilliseconds: number
  readonly result: Record<string, unknown>
}

/** Runs `clinic import` in a process of its own and measures what it takes. */
export async function runImport(
  endpoint: string,
  tableName: string,
  clinic: string,
  file: string,
): Promise<ImportRun> {
  const args = ['import', '--clinic', clinic, file]
  const { code, stdout, seconds, cpuSeconds, peakMegabytes } = await runTool(endpoint, tableName, args)
  if (code !== 0) throw new Error(`the import ended with code ${code}`)
  const result = JSON.parse(stdout) as Record<string, unknown>
  return { seconds, peakMegabytes, cpuMilliseconds: cpuSeconds * 1000, result }
}
