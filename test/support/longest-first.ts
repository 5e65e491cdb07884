import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Folders whose files start stacks, browsers or processes, and wait for them. */
const LONG = /\/test\/(e2e|infra|functions|histories)\/|\/reference\/page\.test|\/import\/contention\.test/

/** Starts the files that wait the longest first, so that the run does not end with one of them alone. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => LONG.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
