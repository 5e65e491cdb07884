/** CloudFormation's intrinsic functions. */

type Intrinsic = (argument: unknown, where: string) => unknown

/** How intrinsic functions look up values. `where` names the place of a function in errors. */
type Lookup = {
  readonly ref: (id: string, where: string) => string | undefined
  readonly attribute: (id: string, name: string, where: string) => string
  /** The value with all intrinsic functions in it resolved. */
  readonly resolve: (value: unknown, where: string) => unknown
  /** The value that another stack exports under a name; undefined if none does. */
  readonly importValue: (name: string) => string | undefined
}

/** The supported functions by name. Each throws an Error that names `where` for an invalid argument. */
export function intrinsicFunctions({
  ref,
  attribute,
  resolve,
  importValue,
}: Lookup): Record<string, Intrinsic> {
  const resolveList = (value: unknown, where: string): unknown[] => {
    const resolved = resolve(value, where)
    if (!Array.isArray(resolved))
      throw new Error(`${where} passes something other than a list to an intrinsic function.`)
    return resolved
  }

  return {
    Ref: (id, where) => ref(String(id), where),
    'Fn::GetAtt': (argument, where) => {
      const [id, name] = argument as [string, string]
      return attribute(id, name, where)
    },
    'Fn::Join': (argument, where) => {
      const [separator, parts] = resolveList(argument, where)
      return resolveList(parts, where).join(String(separator))
    },
    'Fn::Sub': (body, where) =>
      asString(body, where).replace(/\$\{([^}]+)\}/g, (_all, name: string) => {
        const [id = '', ...path] = name.split('.')
        return path.length > 0 ? attribute(id, path.join('.'), where) : asString(ref(id, where), where)
      }),
    'Fn::ImportValue': (argument, where) => {
      const name = asString(resolve(argument, where), where)
      const value = importValue(name)
      if (value === undefined) throw new Error(`${where} imports ${name}, which no stack exports.`)
      return value
    },
  }
}

/** @throws Error for anything other than a string, number or boolean */
export function asString(value: unknown, where: string): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return String(value)
  throw new Error(`${where} needs a string where the template has ${JSON.stringify(value)}.`)
}
