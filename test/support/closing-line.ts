import type { Reporter, TestModule } from 'vitest/node'

/** Ends the log of a CI run with one plain line of totals. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    const broken = modules.filter(
      (module) => module.state() === 'failed' && module.errors().length > 0,
    ).length
    process.stdout.write(
      `\n${count('passed')} passed, ${count('failed') + broken} failed, ${count('skipped')} skipped\n`,
    )
  }
}
