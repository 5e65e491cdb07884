import { basename } from 'node:path'

/**
 * Of the tests, those that are among the changed files or name one of them: by its path, as imports do, or a function by its id.
 * Paths are relative to the project; a test imports `../../shared/domain/clock.ts`.
 */
export function testsNaming(
  changed: readonly string[],
  tests: readonly { readonly path: string; readonly text: string }[],
): string[] {
  const names = changed.flatMap((file) => [
    `/${file}'`,
    ...(file.startsWith('functions/') ? [`'${basename(file, '.ts')}'`] : []),
  ])
  return tests
    .filter(({ path, text }) => changed.includes(path) || names.some((name) => text.includes(name)))
    .map(({ path }) => path)
}
