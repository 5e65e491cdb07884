import { devNull } from 'node:os'
import type { ResolvedTemplate } from '../template/template.ts'

/** A function of the template, with everything that its execution environment needs. */
export type FunctionSpec = {
  /** The logical id. Also the access key of its AWS calls, so that tests can identify the caller. */
  readonly id: string
  readonly name: string
  readonly arn: string
  readonly handler: string
  readonly assetDirectory: string
  readonly timeoutMs: number
  readonly memoryMb: number
  readonly logGroup: string
  readonly environment: Readonly<Record<string, string>>
}

type FunctionProperties = {
  readonly Code: { readonly S3Key?: string }
  readonly Handler: string
  readonly Timeout?: number
  readonly MemorySize?: number
  readonly Environment?: { readonly Variables?: Readonly<Record<string, string>> }
  readonly LoggingConfig?: { readonly LogGroup?: string }
}

type Options = {
  readonly template: ResolvedTemplate
  readonly assetDirectory: (s3Key: string) => string
  readonly region: string
  /** AWS_ENDPOINT_URL_... variables, and those that a test adds. */
  readonly environment: Readonly<Record<string, string>>
  /** Replaces addresses on AWS in a variable of the template. */
  readonly localAddress?: (value: string) => string
}

/** The functions of the template, except those that only CloudFormation calls. */
export function functionSpecs({
  template,
  assetDirectory,
  region,
  environment,
  localAddress = (value) => value,
}: Options): FunctionSpec[] {
  const providers = new Set(template.customResourceProviders())
  const functions = template.resourcesOf<FunctionProperties>('AWS::Lambda::Function')
  const isRun = ({ id }: { id: string }) => !providers.has(template.attribute(id, 'Arn'))
  return functions.filter(isRun).map(({ id, properties }) => {
    const { Code, Handler, Timeout = 3, MemorySize = 128 } = properties
    if (!Code.S3Key) throw new Error(`${id} has no asset: the local stack runs bundles, not inline code.`)
    const name = template.ref(id)
    const spec = {
      id,
      name,
      arn: template.attribute(id, 'Arn'),
      handler: Handler,
      timeoutMs: Timeout * 1000,
      memoryMb: MemorySize,
      logGroup: properties.LoggingConfig?.LogGroup ?? `/aws/lambda/${name}`,
      environment: { ...variablesOf(properties, localAddress), ...environment },
    }
    const directory = assetDirectory(Code.S3Key)
    return {
      ...spec,
      assetDirectory: directory,
      environment: {
        ...lambdaEnvironment(spec, region),
        LAMBDA_TASK_ROOT: directory,
        ...NO_CONFIG_FILES,
        ...spec.environment,
      },
    }
  })
}

const variablesOf = (
  { Environment: { Variables = {} } = {} }: FunctionProperties,
  localAddress: (value: string) => string,
): Record<string, string> =>
  Object.fromEntries(Object.entries(Variables).map(([name, value]) => [name, localAddress(value)]))

/** Keeps the developer's own AWS configuration files from functions. */
const NO_CONFIG_FILES = { AWS_CONFIG_FILE: devNull, AWS_SHARED_CREDENTIALS_FILE: devNull }

/** The variables that Lambda sets (Developer Guide, "Defined runtime environment variables"). */
const lambdaEnvironment = (
  {
    id,
    name,
    handler,
    memoryMb,
    logGroup,
  }: Pick<FunctionSpec, 'id' | 'name' | 'handler' | 'memoryMb' | 'logGroup'>,
  region: string,
) => ({
  _HANDLER: handler,
  AWS_ACCESS_KEY_ID: id,
  AWS_DEFAULT_REGION: region,
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
  AWS_LAMBDA_FUNCTION_NAME: name,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  AWS_LAMBDA_LOG_GROUP_NAME: logGroup,
  AWS_LAMBDA_LOG_STREAM_NAME: LOG_STREAM,
  AWS_REGION: region,
  AWS_SECRET_ACCESS_KEY: 'local',
  LANG: 'en_US.UTF-8',
  TZ: ':UTC',
})

export const LOG_STREAM = 'local/[$LATEST]'
