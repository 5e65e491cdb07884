import { ACCOUNT_ID, type Identity, identify, nameProperty, type StackContext } from './physical-names.ts'

/** A CloudFormation template as the CDK writes it. */
export type Template = {
  readonly Resources: Readonly<Record<string, TemplateResource>>
  readonly Outputs?: Readonly<Record<string, TemplateOutput>>
}

type TemplateOutput = {
  readonly Value: unknown
  readonly Export?: { readonly Name: unknown }
}

export type TemplateResource = {
  readonly Type: string
  readonly Properties?: Readonly<Record<string, unknown>>
  readonly Condition?: string
}

/** A resource whose properties have all intrinsic functions resolved. */
export type ResolvedResource<P> = { readonly id: string; readonly properties: P }

export type ResolvedTemplate = {
  /** Whether the template has a resource with this logical id. */
  has(id: string): boolean
  /** The resources of a type, in template order. Others are not resolved and may use unsupported functions. */
  resourcesOf<P>(type: string): ResolvedResource<P>[]
  /** The ARNs of functions that CloudFormation calls for custom resources. */
  customResourceProviders(): string[]
  outputs(): Record<string, string>
  /** The value of the export with this name; undefined if there is none. */
  exported(name: string): string | undefined
  /** The value of Ref. */
  ref(id: string): string
  /** The value of Fn::GetAtt. */
  attribute(id: string, name: string): string
}

/** @param importValue returns the value that another stack exports under a name */
export function resolveTemplate(
  template: Template,
  context: StackContext,
  importValue: (name: string) => string | undefined = () => undefined,
): ResolvedTemplate {
  const identities = new Map<string, Identity>()
  const pseudo = pseudoParameters(context)

  const identity = (id: string, where: string): Identity => {
    const known = identities.get(id)
    if (known) return known
    const resource = template.Resources[id]
    if (!resource) throw new Error(`${where} refers to ${id}, which is not in the template.`)
    const named = resource.Properties?.[nameProperty(resource.Type)]
    const created = identify(
      id,
      resource,
      named === undefined ? undefined : asString(resolve(named, id), id),
      context,
    )
    identities.set(id, created)
    return created
  }

  const ref = (id: string, where: string): string | undefined =>
    Object.hasOwn(pseudo, id) ? pseudo[id] : identity(id, where).ref

  const attribute = (id: string, name: string, where: string): string => {
    const value = identity(id, where).attributes[name]
    if (value === undefined)
      throw new Error(
        `${where} asks for ${id}.${name}, which the local stack does not support for ${template.Resources[id]?.Type}.`,
      )
    return value
  }

  const resolveList = (value: unknown, where: string): unknown[] => {
    const resolved = resolve(value, where)
    if (!Array.isArray(resolved))
      throw new Error(`${where} passes something other than a list to an intrinsic function.`)
    return resolved
  }

  /** CloudFormation's intrinsic functions. `where` names the place of a function in errors. */
  const intrinsics: Record<string, (argument: unknown, where: string) => unknown> = {
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

  const resolve = (value: unknown, where: string): unknown => {
    if (Array.isArray(value)) return value.map((part) => resolve(part, where)).filter(isDefined)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value)
    const [name = '', argument] = entries[0] ?? []
    if (entries.length === 1 && (name === 'Ref' || name.startsWith('Fn::'))) {
      const intrinsic = intrinsics[name]
      if (!intrinsic) throw new Error(`${where} uses ${name}, which the local stack does not support.`)
      return intrinsic(argument, where)
    }
    return Object.fromEntries(
      entries.map(([key, part]) => [key, resolve(part, where)]).filter(([, part]) => isDefined(part)),
    )
  }

  const outputs = () => Object.entries(template.Outputs ?? {})

  return {
    has: (id) => Object.hasOwn(template.Resources, id),
    resourcesOf: <P>(type: string) =>
      Object.entries(template.Resources)
        .filter(([, resource]) => resource.Type === type)
        .map(([id, { Condition, Properties = {} }]) => {
          if (Condition !== undefined)
            throw new Error(`${id} has a condition, which the local stack does not support.`)
          return { id, properties: resolve(Properties, id) as P }
        }),
    customResourceProviders: () =>
      Object.entries(template.Resources)
        .filter(([, { Type }]) => /^Custom::|::CustomResource$/.test(Type))
        .map(([id, { Properties }]) => asString(resolve(Properties?.ServiceToken, id), id)),
    outputs: () =>
      Object.fromEntries(outputs().map(([name, { Value }]) => [name, asString(resolve(Value, name), name)])),
    // One at a time: the value of another may be an import.
    exported: (wanted) => {
      const found = outputs().find(
        ([name, { Export }]) => Export && asString(resolve(Export.Name, name), name) === wanted,
      )
      return found && asString(resolve(found[1].Value, found[0]), found[0])
    },
    ref: (id) => identity(id, 'The local stack').ref,
    attribute: (id, name) => attribute(id, name, 'The local stack'),
  }
}

/** @throws Error for anything other than a string, number or boolean */
function asString(value: unknown, where: string): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return String(value)
  throw new Error(`${where} needs a string where the template has ${JSON.stringify(value)}.`)
}

/** AWS::NoValue resolves to undefined, which removes the property that has it. */
const isDefined = (value: unknown): boolean => value !== undefined

/** The values of the pseudo parameters. AWS::NoValue is undefined. */
const pseudoParameters = ({ region, stackName }: StackContext): Record<string, string | undefined> => ({
  'AWS::Region': region,
  'AWS::AccountId': ACCOUNT_ID,
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
  'AWS::StackName': stackName,
  'AWS::StackId': `arn:aws:cloudformation:${region}:${ACCOUNT_ID}:stack/${stackName}/local`,
  'AWS::NoValue': undefined,
})
