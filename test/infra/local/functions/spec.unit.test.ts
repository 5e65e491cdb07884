import { expect, it } from 'vitest'
import { functionSpecs } from '../../../../infra/local/functions/spec.ts'
import { resolveTemplate } from '../../../../infra/local/template/template.ts'

const specOf = (Properties: object, environment = {}) => {
  const template = resolveTemplate(
    { Resources: { Patients: { Type: 'AWS::Lambda::Function', Properties: { ...Properties } } } },
    { region: 'eu-central-1', stackName: 'Clinic', queueUrl: (name) => name },
  )
  const assetDirectory = (key: string) => `/assets/${key}`
  return functionSpecs({ template, assetDirectory, region: 'eu-central-1', environment })[0]
}

const CODE = { Code: { S3Key: 'abc.zip' }, Handler: 'index.handler' }

it('has the settings of the function, or Lambda’s defaults', () => {
  expect(specOf(CODE)).toMatchObject({
    timeoutMs: 3000,
    memoryMb: 128,
    logGroup: '/aws/lambda/Clinic-Patients',
  })
  const LoggingConfig = { LogGroup: 'logs' }
  expect(specOf({ ...CODE, Timeout: 15, MemorySize: 512, LoggingConfig })).toMatchObject({
    id: 'Patients',
    name: 'Clinic-Patients',
    arn: 'arn:aws:lambda:eu-central-1:000000000000:function:Clinic-Patients',
    assetDirectory: '/assets/abc.zip',
    timeoutMs: 15_000,
    memoryMb: 512,
    logGroup: 'logs',
  })
})

it('has exactly the environment of the template, of Lambda and of the local stack', () => {
  const Environment = { Variables: { TABLE_NAME: 'clinic' } }
  const spec = specOf({ ...CODE, Environment }, { AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:1' })
  expect(spec?.environment).toEqual({
    _HANDLER: 'index.handler',
    AWS_ACCESS_KEY_ID: 'Patients',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_DEFAULT_REGION: 'eu-central-1',
    AWS_ENDPOINT_URL_SQS: 'http://127.0.0.1:1',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '128',
    AWS_LAMBDA_FUNCTION_NAME: 'Clinic-Patients',
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/Clinic-Patients',
    AWS_LAMBDA_LOG_STREAM_NAME: 'local/[$LATEST]',
    AWS_REGION: 'eu-central-1',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    LAMBDA_TASK_ROOT: '/assets/abc.zip',
    LANG: 'en_US.UTF-8',
    TABLE_NAME: 'clinic',
    TZ: ':UTC',
  })
})

it('throws an error for a function without a bundle', () => {
  expect(() => specOf({ Code: { ZipFile: 'x' }, Handler: 'index.handler' })).toThrow(/Patients has no asset/)
})

it('replaces addresses on AWS in the variables of the template', () => {
  const template = resolveTemplate(
    {
      Resources: {
        Patients: {
          Type: 'AWS::Lambda::Function',
          Properties: { ...CODE, Environment: { Variables: { URL: 'https://aws/queue' } } },
        },
      },
    },
    { region: 'eu-central-1', stackName: 'Clinic', queueUrl: (name) => name },
  )
  const [spec] = functionSpecs({
    template,
    assetDirectory: (key) => key,
    region: 'eu-central-1',
    environment: {},
    localAddress: (value) => value.replace('https://aws', 'http://local'),
  })
  expect(spec?.environment.URL).toBe('http://local/queue')
})
