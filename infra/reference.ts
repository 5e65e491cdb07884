import { LambdaIntegration, type RestApi } from 'aws-cdk-lib/aws-apigateway'
import { Construct } from 'constructs'
import { REFERENCE_RESOURCES } from '../shared/reference/paths.ts'
import type { FunctionCode } from './bundles.ts'
import { REFERENCE } from './reference-files.ts'
import { ServiceFunction } from './service-function.ts'
import type { StageSettings } from './stages.ts'

type Props = { readonly stage: StageSettings; readonly code: FunctionCode; readonly rest: RestApi }

/**
 * The public pages, outside the base path. Their function receives every method, so that it can respond to HEAD, and
 * to other methods with a 405.
 */
export class Reference extends Construct {
  constructor(scope: Construct, id: string, { stage, code, rest }: Props) {
    super(scope, id)
    const { lambda } = new ServiceFunction(this, REFERENCE, { stage, code })
    const integration = new LambdaIntegration(lambda, { allowTestInvoke: false })
    for (const path of REFERENCE_RESOURCES) rest.root.resourceForPath(path).addMethod('ANY', integration)
  }
}
