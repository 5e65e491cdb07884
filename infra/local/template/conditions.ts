type Resolve = (value: unknown, where: string) => unknown

/** Whether a condition of the template holds. @throws Error that names an unsupported function */
export function evaluateCondition(
  name: string,
  conditions: Readonly<Record<string, unknown>>,
  resolve: Resolve,
): boolean {
  const where = `the condition ${name}`
  const functions: Record<string, (argument: unknown) => boolean> = {
    'Fn::Equals': (argument) => {
      const [left, right] = (argument as unknown[]).map((side) => resolve(side, where))
      return left === right
    },
    'Fn::And': (argument) => (argument as unknown[]).every(holds),
    'Fn::Or': (argument) => (argument as unknown[]).some(holds),
    'Fn::Not': (argument) => !(argument as unknown[]).every(holds),
    Condition: (argument) => evaluateCondition(String(argument), conditions, resolve),
  }
  const holds = (expression: unknown): boolean => {
    const [functionName = '', argument] = Object.entries(expression ?? {})[0] ?? []
    const evaluate = functions[functionName]
    if (!evaluate)
      throw new Error(`${where} uses ${functionName || 'nothing'}, which the local stack cannot evaluate.`)
    return evaluate(argument)
  }
  return holds(conditions[name])
}
