/** CloudFormation's intrinsic functions. */

type Intrinsic = (argument: unknown, where: string) => unknown

/** How intrinsic functions look up values. `where` names the place of a function in errors. */
type Lookup = {
  readonly ref: (id: string, where: string) => string | undefined
  readonly attribute: (id: string, name: string, where: string) => string
  /** The value with all intrinsic functions in it resolved. */
  readonly resolve: (value: unknown, where: string) => unknown
  /** Whether a condition of the template holds. */
  readonly holds: (name: string) => boolean
  /** The value that another stack exports under a name; undefined if none does. */
  readonly importValue: (name: string) => string | undefined
}

/** The supported functions by name. Each throws an Error that names `where` for an invalid argument. */
export function intrinsicFunctions({
  ref,
  attribute,
  resolve,
  holds,
  importValue,
}: Lookup): Record<string, Intrinsic> {
  const substitute = (body: string, values: Record<string, unknown>, where: string): string =>
    body.replace(/\$\{(!?)([^}]+)\}/g, (_all, literal: string, name: string) => {
      if (literal) return `\${${name}}`
      if (Object.hasOwn(values, name)) return asString(values[name], where)
      const [id = '', ...path] = name.split('.')
      return path.length > 0 ? attribute(id, path.join('.'), where) : asString(ref(id, where), where)
    })

  const resolveList = (value: unknown, where: string): unknown[] => {
    const resolved = resolve(value, where)
    if (!Array.isArray(resolved))
      throw new Error(`${where} passes something other than a list to an intrinsic function.`)
    return resolved
  }

  return {
    Ref: (id, where) => ref(String(id), where),
    'Fn::GetAtt': (argument, where) => {
      const [id = '', ...path] = Array.isArray(argument) ? argument.map(String) : String(argument).split('.')
      return attribute(id, path.join('.'), where)
    },
    'Fn::Join': (argument, where) => {
      const [separator, parts] = resolveList(argument, where)
      return resolveList(parts, where).join(String(separator))
    },
    'Fn::Sub': (argument, where) => {
      const [body, values] = Array.isArray(argument) ? argument : [argument, {}]
      return substitute(String(body), resolve(values, where) as Record<string, unknown>, where)
    },
    'Fn::Select': (argument, where) => {
      const [index, values] = resolveList(argument, where)
      return resolveList(values, where)[Number(index)]
    },
    'Fn::Split': (argument, where) => {
      const [separator, whole] = resolveList(argument, where)
      return asString(whole, where).split(String(separator))
    },
    'Fn::ImportValue': (argument, where) => {
      const name = asString(resolve(argument, where), where)
      const value = importValue(name)
      if (value === undefined) throw new Error(`${where} imports ${name}, which no stack exports.`)
      return value
    },
    'Fn::If': (argument, where) => {
      const [name, yes, no] = argument as [string, unknown, unknown]
      return resolve(holds(name) ? yes : no, where)
    },
  }
}

/** @throws Error for anything other than a string, number or boolean */
export function asString(value: unknown, where: string): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return String(value)
  throw new Error(`${where} needs a string where the template has ${JSON.stringify(value)}.`)
}
