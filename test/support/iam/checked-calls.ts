import type { DeployedRoles, FunctionRole } from './deployed-roles.ts'
import { type Decision, decide, grantsOf } from './evaluation.ts'
import { type IamRequest, iamRequests, type SdkCall } from './requests.ts'

/** Evaluates calls of functions against their roles. Calls that differ in ids only are evaluated once. */
export function checkedCalls(roles: DeployedRoles) {
  const decisions = new Map<string, Promise<Decision>>()
  const functions = new Map(
    roles.functions.map((role) => [role.functionId, { role, requests: new Map<string, IamRequest>() }]),
  )
  const functionOf = (id: string) => {
    const found = functions.get(id)
    if (!found) throw new Error(`${id} is not a function with a role`)
    return found
  }
  const roleOf = (id: string): FunctionRole => functionOf(id).role

  const add = (functionId: string, requests: readonly IamRequest[]): void => {
    for (const request of requests) functionOf(functionId).requests.set(shapeOf(request), request)
  }

  const decisionsOf = (functionId: string): Promise<Decision[]> => {
    const { role, requests } = functionOf(functionId)
    return Promise.all(
      [...requests].map(([shape, request]) => {
        const key = `${functionId} ${shape}`
        const decided = decisions.get(key) ?? decide(role, request, roles)
        decisions.set(key, decided)
        return decided
      }),
    )
  }

  return {
    add: (functionId: string, call: SdkCall): void => add(functionId, iamRequests(call, roles)),

    /** The calls of one function or all that IAM would deny, as text. */
    denied: async (functionId?: string): Promise<string[]> => {
      const all = await Promise.all(
        (functionId ? [functionId] : [...functions.keys()]).map(async (id) =>
          (await decisionsOf(id))
            .filter(({ allowed }) => !allowed)
            .map(({ request: { action, resource, context } }) =>
              [id, action, resource, JSON.stringify(context)].join(' '),
            ),
        ),
      )
      return all.flat().sort()
    },

    /** Permissions of a function's role that neither its calls nor Lambda on its behalf used, as text. */
    unused: async (functionId: string): Promise<string[]> => {
      const role = roleOf(functionId)
      add(functionId, role.byLambda)
      const made = await decisionsOf(functionId)
      const used = new Set(made.flatMap(({ grants }) => grants))
      return grantsOf(role).flatMap(({ id, statement: { Action, Resource, NotResource, Condition } }) => {
        const grant = [Action, Resource ?? `anything but ${NotResource}`].join(' ')
        if (!used.has(id)) return [grant]
        const keys = made
          .filter(({ grants }) => grants.includes(id))
          .flatMap(({ request }) => keysOf(request))
        const patterns = [Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? []].flat()
        return patterns
          .filter((pattern) => !keys.some((key) => key.startsWith(pattern.replace(/\*$/, ''))))
          .map((pattern) => `${grant} ${pattern}`)
      })
    },

    /** Which partitions a function's role allows to access by any call of DynamoDB, whether it does or not. */
    reached: async (functionId: string, partitions: readonly string[]): Promise<string[]> => {
      const role = roleOf(functionId)
      const calls = role.statements.flatMap(({ Action, Resource, Condition }) => {
        const action = [Action].flat().find((name) => name.startsWith('dynamodb:'))
        return action && Condition ? [{ action, resource: String(Resource) }] : []
      })
      const isReached = async (partition: string): Promise<boolean> => {
        const context = { 'dynamodb:LeadingKeys': [partition] }
        const decided = await Promise.all(calls.map((call) => decide(role, { ...call, context }, roles)))
        return decided.some(({ allowed }) => allowed)
      }
      const reached = await Promise.all(partitions.map(isReached))
      return partitions.filter((_, at) => reached[at])
    },

    /** The partitions that a function's calls touched. */
    partitions: (functionId: string): string[] =>
      [...functionOf(functionId).requests.values()].flatMap(keysOf),
  }
}

export type CheckedCalls = ReturnType<typeof checkedCalls>

const keysOf = ({ context }: IamRequest): string[] => [context['dynamodb:LeadingKeys'] ?? []].flat()

/** The same for requests that differ in ids only. Conditions depend on the beginning of a key, which no id is part of. */
function shapeOf({ action, resource, context }: IamRequest): string {
  const values = Object.entries(context).map(([name, value]) => [
    name,
    [...new Set([value].flat().map((one) => one.replace(/[\w-]{16,}|\d+/g, '*')))].sort(),
  ])
  return JSON.stringify([action, resource, values])
}
