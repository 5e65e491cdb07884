import { cpSync, existsSync, mkdtempSync, renameSync } from 'node:fs'
import { bundleFunctions, codeIn, type FunctionCode } from './bundles.ts'

/**
 * The bundles of all functions, copied from the folder `kept` if it exists; otherwise they are made, and kept there. For many
 * syntheses of the same code, such as the syntheses of a test run: nothing checks that the code has not changed since.
 */
export function keptBundles(ids: readonly string[], outdir: string, kept: string): FunctionCode {
  if (existsSync(kept)) {
    cpSync(kept, outdir, { recursive: true })
    return codeIn(outdir)
  }
  const { code } = bundleFunctions(ids, outdir)
  const unfinished = mkdtempSync(`${kept}-`)
  cpSync(outdir, unfinished, { recursive: true })
  try {
    renameSync(unfinished, kept)
  } catch (error) {
    // Another synthesis has kept the same bundles in the meantime.
    if (!existsSync(kept)) throw error
  }
  return code
}
