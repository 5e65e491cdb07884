import type { DeployedRoles, FunctionRole } from './deployed-roles.ts'
import { type Decision, decide, grantsOf } from './evaluation.ts'
import { type IamRequest, iamRequests, type SdkCall } from './requests.ts'

/** Evaluates calls of functions against their roles. Calls that differ in ids only are evaluated once. */
export function checkedCalls(roles: DeployedRoles) {
  const byId = new Map(roles.functions.map((role) => [role.functionId, role]))
  const decisions = new Map<string, Promise<Decision>>()
  const known = new Map<string, { role: FunctionRole; requests: Map<string, IamRequest> }>()
  for (const role of roles.functions) known.set(role.functionId, { role, requests: new Map() })

  const add = (functionId: string, requests: readonly IamRequest[]): void => {
    const own = known.get(functionId)
    if (!own) throw new Error(`${functionId} is not a function with a role`)
    for (const request of requests) own.requests.set(shapeOf(request), request)
  }

  const decisionsOf = (functionId: string): Promise<Decision[]> => {
    const role = byId.get(functionId)
    const requests = [...(known.get(functionId)?.requests ?? [])]
    if (!role) throw new Error(`${functionId} is not a function with a role`)
    return Promise.all(
      requests.map(([shape, request]) => {
        const key = `${functionId} ${shape}`
        const decided = decisions.get(key) ?? decide(role, request, roles)
        decisions.set(key, decided)
        return decided
      }),
    )
  }

  return {
    add: (functionId: string, call: SdkCall): void => add(functionId, iamRequests(call, roles)),

    /** The calls that IAM would deny, as text. */
    denied: async (): Promise<string[]> => {
      const all = await Promise.all(
        [...known.keys()].map(async (id) =>
          (await decisionsOf(id))
            .filter(({ allowed }) => !allowed)
            .map(({ request: { action, resource, context } }) =>
              [id, action, resource, JSON.stringify(context)].join(' '),
            ),
        ),
      )
      return all.flat().sort()
    },

    /** What a function's role allows that neither its calls nor Lambda on its behalf used, as text. */
    unused: async (functionId: string): Promise<string[]> => {
      const role = byId.get(functionId)
      if (!role) throw new Error(`${functionId} is not a function with a role`)
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

    /** The partitions that a function's calls touched. */
    partitions: (functionId: string): string[] =>
      [...(known.get(functionId)?.requests.values() ?? [])].flatMap(keysOf),
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
