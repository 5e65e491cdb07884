import type { AwsRequest } from '../../../infra/local/functions/worker.ts'
import type { LocalStack, LocalStackOptions } from '../../../infra/local/stack.ts'
import type { Assembly } from '../../../infra/local/template/synthesize.ts'
import { type CheckedCalls, checkedCalls } from './checked-calls.ts'
import { deployedRoles } from './deployed-roles.ts'
import { sdkCall } from './wire.ts'

/**
 * Evaluates every call of a local stack's functions against the roles of its template. Start the stack with the returned
 * options, call `begin` when it runs, and `check` after it has been closed.
 */
export function stackCalls(synthesize: NonNullable<LocalStackOptions['synthesize']>) {
  const early: [functionId: string, request: AwsRequest][] = []
  const problems: string[] = []
  let assembly: Assembly | undefined
  let calls: CheckedCalls | undefined

  const onRequest = (functionId: string, request: AwsRequest): void => {
    if (!calls) {
      early.push([functionId, request])
      return
    }
    try {
      calls.add(functionId, sdkCall(request))
    } catch (error) {
      problems.push((error as Error).message)
    }
  }

  return {
    options: {
      onRequest,
      synthesize: async (...parameters: Parameters<typeof synthesize>): Promise<Assembly> => {
        assembly = await synthesize(...parameters)
        return assembly
      },
    },

    begin: ({ outputs: { TableName = '' } }: Pick<LocalStack, 'outputs'>): void => {
      if (!assembly) throw new Error('nothing was deployed')
      // The name of the table has a suffix in a DynamoDB other than the local engine.
      const tableSuffix = process.env.AWS_ENDPOINT_URL_DYNAMODB ? TableName.slice(-9) : ''
      calls = checkedCalls(deployedRoles([assembly, ...assembly.otherStacks], tableSuffix))
      for (const [functionId, request] of early) onRequest(functionId, request)
    },

    /** @throws Error that lists the calls that IAM would deny, and those that no rule knows */
    check: async (): Promise<void> => {
      const denied = (await calls?.denied()) ?? []
      const found = [...new Set(problems), ...denied.map((call) => `IAM would deny ${call}`)]
      if (found.length > 0) throw new Error(found.join('\n'))
    },
  }
}
