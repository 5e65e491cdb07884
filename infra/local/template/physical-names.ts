import { createHash } from 'node:crypto'

export const ACCOUNT_ID = '000000000000'

/** The context that physical names and ARNs depend on. */
export type StackContext = {
  readonly region: string
  readonly stackName: string
  readonly queueUrl: (name: string) => string
  /** The end of every table's name, where several stacks share one DynamoDB. */
  readonly tableSuffix?: string
}

/** The values of Ref and Fn::GetAtt for a resource. */
export type Identity = { readonly ref: string; readonly attributes: Readonly<Record<string, string>> }

type ResourceDefinition = { readonly Type: string; readonly Properties?: Readonly<Record<string, unknown>> }

type NamedResource = {
  readonly id: string
  readonly name: string
  readonly definition: ResourceDefinition
  readonly context: StackContext
  readonly arn: (service: string, resource: string) => string
}

const IDENTITY_BUILDERS: Record<string, (named: NamedResource) => Identity> = {
  'AWS::DynamoDB::Table': ({ name, arn, definition, context }) => {
    const table = `${name}${context.tableSuffix ?? ''}`
    return {
      ref: table,
      attributes: {
        Arn: arn('dynamodb', `table/${table}`),
        ...(definition.Properties?.StreamSpecification !== undefined && {
          StreamArn: arn('dynamodb', `table/${table}/stream/local`),
        }),
      },
    }
  },
  'AWS::SQS::Queue': ({ name, arn, context }) => ({
    ref: context.queueUrl(name),
    attributes: { Arn: arn('sqs', name), QueueName: name, QueueUrl: context.queueUrl(name) },
  }),
  'AWS::SNS::Topic': ({ name, arn }) => ({
    ref: arn('sns', name),
    attributes: { TopicArn: arn('sns', name), TopicName: name },
  }),
  'AWS::Lambda::Function': ({ name, arn }) => ({
    ref: name,
    attributes: { Arn: arn('lambda', `function:${name}`) },
  }),
  'AWS::Logs::LogGroup': ({ name, arn }) => ({
    ref: name,
    attributes: { Arn: arn('logs', `log-group:${name}:*`) },
  }),
  'AWS::KinesisFirehose::DeliveryStream': ({ name, arn }) => ({
    ref: name,
    attributes: { Arn: arn('firehose', `deliverystream/${name}`) },
  }),
  'AWS::Events::Rule': ({ name, arn }) => ({
    ref: name,
    attributes: { Arn: arn('events', `rule/${name}`) },
  }),
  'AWS::Events::ApiDestination': ({ id, name, arn }) => ({
    ref: name,
    attributes: {
      Arn: arn('events', `api-destination/${name}/${digest(id, 8)}-0000-4000-8000-${digest(name, 12)}`),
    },
  }),
  'AWS::S3::Bucket': ({ name }) => ({ ref: name, attributes: { Arn: `arn:aws:s3:::${name}` } }),
  'AWS::IAM::Role': ({ name }) => ({
    ref: name,
    attributes: { Arn: `arn:aws:iam::${ACCOUNT_ID}:role/${name}` },
  }),
  'AWS::KMS::Key': ({ id, arn }) => {
    const key = `${digest(id, 8)}-0000-4000-8000-${digest(`${id}-key`, 12)}`
    return { ref: key, attributes: { Arn: arn('kms', `key/${key}`), KeyId: key } }
  },
  'AWS::ApiGateway::RestApi': ({ id }) => ({
    ref: digest(id, 10),
    attributes: { RestApiId: digest(id, 10), RootResourceId: digest(`${id}/`, 10) },
  }),
  'AWS::ApiGateway::DomainName': ({ name, id, context }) => ({
    ref: name,
    attributes: { RegionalDomainName: `d-${digest(id, 10)}.execute-api.${context.region}.amazonaws.com` },
  }),
}

/** The property that names a resource, for types where it is not `<Type>Name`. */
const NAME_PROPERTIES: Record<string, string> = {
  'AWS::ApiGateway::DomainName': 'DomainName',
  'AWS::Events::Rule': 'Name',
  'AWS::SES::ConfigurationSet': 'Name',
  'AWS::SES::EmailIdentity': 'EmailIdentity',
}

export const nameProperty = (type: string): string =>
  NAME_PROPERTIES[type] ?? `${type.split('::').at(-1)}Name`

/** Maximum length of a generated name, for services whose limit a stack name and a logical id can exceed. */
const MAX_NAME_LENGTHS: Record<string, number> = {
  'AWS::Events::Rule': 64,
  'AWS::Lambda::Function': 64,
  'AWS::SES::ConfigurationSet': 64,
  'AWS::SQS::Queue': 80,
  'AWS::IAM::Role': 64,
  'AWS::KinesisFirehose::DeliveryStream': 64,
  'AWS::S3::Bucket': 63,
}

/** Names depend on the logical id alone, so that the next run finds the persisted data of this one. */
export function identify(
  id: string,
  definition: ResourceDefinition,
  explicitName: string | undefined,
  context: StackContext,
): Identity {
  const { Type } = definition
  const name = explicitName ?? shorten(`${context.stackName}-${id}`, MAX_NAME_LENGTHS[Type] ?? 255)
  const arn = (service: string, resource: string) =>
    `arn:aws:${service}:${context.region}:${ACCOUNT_ID}:${resource}`
  return IDENTITY_BUILDERS[Type]?.({ id, name, definition, context, arn }) ?? { ref: name, attributes: {} }
}

/** Keeps the end of a long name, because logical ids end in a hash that distinguishes them. */
const shorten = (name: string, limit: number): string =>
  name.length <= limit ? name : `${name.slice(0, limit - 9)}-${name.slice(-8)}`

const digest = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, length)
