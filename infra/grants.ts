/** What a function may do: each statement as narrow as its service allows. */
import { Stack } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import type { TableCall } from '../shared/api/route.ts'
import { CLINIC_DIRECTORY_PARTITION, CREDENTIAL_PARTITION_PREFIX } from '../shared/store/keys/clinics.ts'
import { DUE_PARTITION_PREFIX, DUE_PARTITIONS_EXCEPT_EVENTS } from '../shared/store/keys/due.ts'
import { PROVIDER_PARTITION_PREFIX } from '../shared/store/keys/messages.ts'
import type { Data } from './data.ts'

/** Authentication reads the credential and notes its use: on credential partitions only. */
export const credentialGrant = ({ table }: Data): PolicyStatement =>
  new PolicyStatement({
    actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
    resources: [table.tableArn],
    conditions: {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${CREDENTIAL_PARTITION_PREFIX}*`] },
    },
  })

/**
 * Calls on clinics' partitions, never on credentials or the list of clinics; on what is due over all clinics only for
 * those that deliver, but whoever writes records announces their events.
 */
export const tableGrant = (
  { table }: Data,
  calls: readonly TableCall[],
  { delivers }: { delivers: boolean },
): PolicyStatement =>
  new PolicyStatement({
    actions: calls.map((call) => `dynamodb:${call}`),
    resources: [table.tableArn],
    conditions: {
      'ForAllValues:StringNotLike': {
        'dynamodb:LeadingKeys': [
          `${CREDENTIAL_PARTITION_PREFIX}*`,
          CLINIC_DIRECTORY_PARTITION,
          ...(delivers ? [] : deniedPartitions(calls)),
        ],
      },
    },
  })

function deniedPartitions(calls: readonly TableCall[]): string[] {
  const announces = calls.includes('PutItem')
  const due = announces ? DUE_PARTITIONS_EXCEPT_EVENTS : [DUE_PARTITION_PREFIX]
  return [...due, PROVIDER_PARTITION_PREFIX].map((prefix) => `${prefix}*`)
}

/** DynamoDB uses the table's key in the caller's name; the key serves no other purpose. */
export const keyGrant = (scope: Construct, { key }: Data): PolicyStatement =>
  new PolicyStatement({
    actions: ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
    resources: [key.keyArn],
    conditions: { StringEquals: { 'kms:ViaService': `dynamodb.${Stack.of(scope).region}.amazonaws.com` } },
  })

export const pushGrant = (queue: IQueue): PolicyStatement =>
  new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [queue.queueArn] })

/** SMS to phones; every topic is something else. */
export const smsGrant = (scope: Construct): PolicyStatement =>
  new PolicyStatement({
    actions: ['sns:Publish'],
    notResources: [`arn:${Stack.of(scope).partition}:sns:*:*:*`],
  })

/** Mail from one address, whichever way its identity is verified, under one configuration set. */
export function emailGrant(scope: Construct, from: string, configurationSet: string): PolicyStatement {
  const identities = [from, from.slice(from.indexOf('@') + 1)].map((resourceName) => [
    'identity',
    resourceName,
  ])
  const arns = [...identities, ['configuration-set', configurationSet]].map(([resource = '', resourceName]) =>
    Stack.of(scope).formatArn({ service: 'ses', resource, resourceName }),
  )
  return new PolicyStatement({
    actions: ['ses:SendEmail'],
    resources: arns,
    conditions: { StringEquals: { 'ses:FromAddress': from } },
  })
}
