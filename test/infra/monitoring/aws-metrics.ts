/** Metrics of AWS services as AWS documents them: `<namespace> <metric>`, the dimensions that are used, and the page. */
type Documented = { readonly dimensions: readonly string[]; readonly page: string }

const SQS = {
  dimensions: ['QueueName'],
  page: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html',
}
const LAMBDA = {
  dimensions: ['FunctionName'],
  page: 'https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html',
}
/** Lambda's metrics without dimensions cover all functions of the account and region. */
const ALL_FUNCTIONS = {
  dimensions: [],
  page: 'https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-view.html',
}
const API = {
  dimensions: ['ApiName', 'Stage'],
  page: 'https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html',
}
const TABLE = {
  dimensions: ['TableName'],
  page: 'https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/metrics-dimensions.html',
}
const SES = {
  dimensions: [],
  page: 'https://docs.aws.amazon.com/ses/latest/dg/reputationdashboard-cloudwatch-alarm.html',
}
const SNS = {
  dimensions: [],
  page: 'https://docs.aws.amazon.com/sns/latest/dg/sns-monitoring-using-cloudwatch.html',
}
const FIREHOSE = {
  dimensions: ['DeliveryStreamName'],
  page: 'https://docs.aws.amazon.com/firehose/latest/dev/monitoring-with-cloudwatch-metrics.html',
}

const EVENTS = {
  dimensions: ['RuleName'],
  page: 'https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-monitoring.html',
}

export const AWS_METRICS: Record<string, Documented> = {
  'AWS/SQS ApproximateNumberOfMessagesVisible': SQS,
  'AWS/SQS ApproximateAgeOfOldestMessage': SQS,
  'AWS/Lambda Errors': LAMBDA,
  'AWS/Lambda IteratorAge': LAMBDA,
  'AWS/Lambda Throttles': ALL_FUNCTIONS,
  'AWS/ApiGateway Count': API,
  'AWS/ApiGateway Latency': API,
  'AWS/ApiGateway 4XXError': API,
  'AWS/ApiGateway 5XXError': API,
  'AWS/DynamoDB ReadThrottleEvents': TABLE,
  'AWS/DynamoDB WriteThrottleEvents': TABLE,
  'AWS/DynamoDB TransactionConflict': TABLE,
  'AWS/DynamoDB ConsumedReadCapacityUnits': TABLE,
  'AWS/DynamoDB ConsumedWriteCapacityUnits': TABLE,
  'AWS/SES Reputation.BounceRate': SES,
  'AWS/SES Reputation.ComplaintRate': SES,
  'AWS/SNS SMSMonthToDateSpentUSD': SNS,
  'AWS/Events Invocations': EVENTS,
  'AWS/Events FailedInvocations': EVENTS,
  'AWS/Firehose DeliveryToS3.DataFreshness': FIREHOSE,
  'AWS/Firehose DeliveryToS3.Success': FIREHOSE,
}
