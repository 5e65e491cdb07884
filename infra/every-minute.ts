import { Duration } from 'aws-cdk-lib'
import { Rule, Schedule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets'
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'

/** Invokes a sweep every minute. What one minute cannot do, the next one does: nothing is repeated. */
export function everyMinute(scope: Construct, lambda: Lambda): void {
  lambda.configureAsyncInvoke({ retryAttempts: 0 })
  new Rule(scope, 'EveryMinute', {
    schedule: Schedule.rate(Duration.minutes(1)),
    targets: [new LambdaFunction(lambda, { retryAttempts: 0 })],
  })
}
