import type { DeployedRoles, FunctionRole, Statement } from './deployed-roles.ts'
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
      return grantsOf(role).flatMap(({ id, statement: { Action, Resource, NotResource } }) =>
        used.has(id) ? [] : [[Action, Resource ?? `anything but ${NotResource}`].join(' ')],
      )
    },

    /** Which of the partitions a function's role allows to access by calls of DynamoDB whose action matches, whether it does or not. */
    reached: async (functionId: string, partitions: readonly string[], actions = /./): Promise<string[]> => {
      const { roleArn, statements } = roleOf(functionId)
      const granted = statements.flatMap((statement) => {
        const action = [statement.Action]
          .flat()
          .find((name) => name.startsWith('dynamodb:') && actions.test(name))
        return action && statement.Condition ? [{ ...statement, Action: action }] : []
      })
      const isAllowed = async (statement: Statement, keys: readonly string[]): Promise<boolean> => {
        const request = { action: String(statement.Action), resource: String(statement.Resource) }
        const context = { 'dynamodb:LeadingKeys': [...keys] }
        return (await decide({ roleArn, statements: [statement] }, { ...request, context }, roles)).allowed
      }
      // One decision on all partitions together, since most statements allow none of them.
      const reaching = await filterAsync(granted, (statement) => isAllowed(forAnyKey(statement), partitions))
      return filterAsync(partitions, async (partition) =>
        (await Promise.all(reaching.map((statement) => isAllowed(statement, [partition])))).includes(true),
      )
    },

    /** The partitions that a function's calls touched, of those whose action matches. */
    partitions: (functionId: string, actions = /./): string[] =>
      [...functionOf(functionId).requests.values()]
        .filter(({ action }) => actions.test(action))
        .flatMap(keysOf),
  }
}

export type CheckedCalls = ReturnType<typeof checkedCalls>

const keysOf = ({ context }: IamRequest): string[] => [context['dynamodb:LeadingKeys'] ?? []].flat()

/** The statement, if it held for a request as soon as it holds for one of its keys. */
function forAnyKey({ Condition = {}, ...rest }: Statement): Statement {
  const { 'ForAllValues:StringLike': like, ...more } = Condition
  return { ...rest, Condition: { ...more, ...(like && { 'ForAnyValue:StringLike': like }) } }
}

async function filterAsync<T>(all: readonly T[], isWanted: (one: T) => Promise<boolean>): Promise<T[]> {
  const wanted = await Promise.all(all.map(isWanted))
  return all.filter((_, at) => wanted[at])
}

/** The same for requests that differ in ids only. Conditions depend on the beginning of a key, which no id is part of. */
function shapeOf({ action, resource, context }: IamRequest): string {
  const values = Object.entries(context).map(([name, value]) => [
    name,
    [...new Set([value].flat().map((one) => one.replace(/[\w-]{16,}|\d+/g, '*')))].sort(),
  ])
  return JSON.stringify([action, resource, values])
}
