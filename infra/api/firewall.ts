import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import { Construct } from 'constructs'

/** Requests of an address in five minutes. A program may act for many clinics, each with its own rate. */
const MAX_OF_ADDRESS = 30_000

/** Requests of an address in five minutes without what can be a credential: the public pages, and attackers. */
const MAX_UNAUTHENTICATED = 1_000

/**
 * Rules of AWS that are counted instead of enforced. Messages and notes are free text, webhooks are URLs, bodies may have
 * more than 8 KB, and programs need not name themselves.
 */
const COUNTED = [
  'SizeRestrictions_BODY',
  'CrossSiteScripting_BODY',
  'GenericRFI_BODY',
  'GenericLFI_BODY',
  'EC2MetaDataSSRF_BODY',
  'CrossSiteScripting_QUERYARGUMENTS',
  'GenericRFI_QUERYARGUMENTS',
  'NoUserAgent_HEADER',
]

const MANAGED: readonly (readonly [name: string, counted: readonly string[]])[] = [
  ['AWSManagedRulesAmazonIpReputationList', []],
  ['AWSManagedRulesKnownBadInputsRuleSet', []],
  ['AWSManagedRulesCommonRuleSet', COUNTED],
]

type Props = {
  readonly name: string
  /** The stage of the API. */
  readonly stageArn: string
}

/** The web ACL of the API. A blocked request gets the gateway's response for WAF_FILTERED. */
export class Firewall extends Construct {
  constructor(scope: Construct, id: string, { name, stageArn }: Props) {
    super(scope, id)
    const rules = [
      rateRule('Address', MAX_OF_ADDRESS),
      rateRule('Unauthenticated', MAX_UNAUTHENTICATED, withoutCredential),
      ...MANAGED.map(([rule, counted]) => managedRule(rule, counted)),
    ]
    const acl = new CfnWebACL(this, 'Acl', {
      name,
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      rules: rules.map((rule, priority) => ({ ...rule, priority })),
      visibilityConfig: visibility(name),
    })
    new CfnWebACLAssociation(this, 'Association', { resourceArn: stageArn, webAclArn: acl.attrArn })
  }
}

/** Sampled requests would contain their paths and queries. */
const visibility = (metricName: string) => ({
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: false,
  metricName,
})

/** `Developer <key>:<secret>` in lower case. The firewall's expressions have no groups. */
const CREDENTIAL = '^developer [!-9;-~]+:[!-9;-~]+$'

const withoutCredential: CfnWebACL.StatementProperty = {
  notStatement: {
    statement: {
      regexMatchStatement: {
        fieldToMatch: { singleHeader: { Name: 'authorization' } },
        regexString: CREDENTIAL,
        textTransformations: [{ priority: 0, type: 'LOWERCASE' }],
      },
    },
  },
}

const rateRule = (name: string, limit: number, scopeDownStatement?: CfnWebACL.StatementProperty) => ({
  name,
  action: { block: {} },
  statement: {
    rateBasedStatement: {
      limit,
      aggregateKeyType: 'IP',
      evaluationWindowSec: 300,
      ...(scopeDownStatement && { scopeDownStatement }),
    },
  },
  visibilityConfig: visibility(name),
})

const managedRule = (name: string, counted: readonly string[]) => ({
  name,
  overrideAction: { none: {} },
  statement: {
    managedRuleGroupStatement: {
      vendorName: 'AWS',
      name,
      ...(counted.length > 0 && {
        ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
      }),
    },
  },
  visibilityConfig: visibility(name),
})
