import { evaluateCondition } from './conditions.ts'
import { ACCOUNT_ID, type Identity, identify, nameProperty, type StackContext } from './physical-names.ts'

/** A CloudFormation template as the CDK writes it. */
export type Template = {
  readonly Resources: Readonly<Record<string, TemplateResource>>
  readonly Outputs?: Readonly<Record<string, TemplateOutput>>
  readonly Parameters?: Readonly<Record<string, { readonly Default?: string }>>
  readonly Conditions?: Readonly<Record<string, unknown>>
}

type TemplateOutput = {
  readonly Value: unknown
  readonly Condition?: string
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
  /** The resources of a type, in template order. Others are not resolved and may use unsupported functions. */
  resourcesOf<P>(type: string): ResolvedResource<P>[]
  outputs(): Record<string, string>
  /** Exported values by their export names. */
  exports(): Record<string, string>
  /** The value of Ref. */
  ref(id: string): string
  /** The value of Fn::GetAtt. */
  attribute(id: string, name: string): string
}

type Intrinsic = (argument: unknown, where: string) => unknown

/** @param imports the values that other stacks export, by their export names */
export function resolveTemplate(
  template: Template,
  context: StackContext,
  imports: Readonly<Record<string, string>> = {},
): ResolvedTemplate {
  const identities = new Map<string, Identity>()

  const pseudo: Record<string, string | undefined> = {
    'AWS::Region': context.region,
    'AWS::AccountId': ACCOUNT_ID,
    'AWS::Partition': 'aws',
    'AWS::URLSuffix': 'amazonaws.com',
    'AWS::StackName': context.stackName,
    'AWS::StackId': `arn:aws:cloudformation:${context.region}:${ACCOUNT_ID}:stack/${context.stackName}/local`,
    'AWS::NoValue': undefined,
  }

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
    Object.hasOwn(pseudo, id) ? pseudo[id] : (template.Parameters?.[id]?.Default ?? identity(id, where).ref)

  const attribute = (id: string, name: string, where: string): string => {
    const value = identity(id, where).attributes[name]
    if (value === undefined)
      throw new Error(
        `${where} asks for ${id}.${name}, which the local stack does not support for ${template.Resources[id]?.Type}.`,
      )
    return value
  }

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

  const intrinsics: Record<string, Intrinsic> = {
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
      const value = imports[name]
      if (value === undefined) throw new Error(`${where} imports ${name}, which no stack exports.`)
      return value
    },
    'Fn::If': (argument, where) => {
      const [name, yes, no] = argument as [string, unknown, unknown]
      return resolve(holds(name) ? yes : no, where)
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

  const holds = (name: string): boolean => evaluateCondition(name, template.Conditions ?? {}, resolve)
  const exists = ({ Condition }: { readonly Condition?: string }): boolean => !Condition || holds(Condition)

  const outputs = () => Object.entries(template.Outputs ?? {}).filter(([, output]) => exists(output))

  return {
    resourcesOf: <P>(type: string) =>
      Object.entries(template.Resources)
        .filter(([, resource]) => resource.Type === type && exists(resource))
        .map(([id, resource]) => ({ id, properties: resolve(resource.Properties ?? {}, id) as P })),
    outputs: () =>
      Object.fromEntries(outputs().map(([name, { Value }]) => [name, asString(resolve(Value, name), name)])),
    exports: () =>
      Object.fromEntries(
        outputs().flatMap(([name, { Value, Export }]) =>
          Export ? [[asString(resolve(Export.Name, name), name), asString(resolve(Value, name), name)]] : [],
        ),
      ),
    ref: (id) => identity(id, 'The local stack').ref,
    attribute: (id, name) => attribute(id, name, 'The local stack'),
  }
}

/** AWS::NoValue resolves to undefined, which removes the property that has it. */
const isDefined = (value: unknown): boolean => value !== undefined

function asString(value: unknown, where: string): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return String(value)
  throw new Error(`${where} needs a string where the template has ${JSON.stringify(value)}.`)
}
