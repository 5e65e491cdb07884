/** Who is notified, and the limits that alarms compare with. */
export type MonitoringSettings = {
  /** Receives the notifications of alarms; undefined for no notifications. */
  readonly alarmEmail: string | undefined
  /** The account's limit of spending on SMS, US dollars a month. */
  readonly smsSpendLimit: number
  /** US dollars a month; undefined for no budget. */
  readonly monthlyBudget: number | undefined
  /** Whether X-Ray samples requests. */
  readonly tracing: boolean
  /** How often the API is requested through its domain; undefined for never. */
  readonly canary: { readonly minutes: number; readonly domain: string } | undefined
}

/** The settings that `-c` may set. */
export type MonitoringContext = {
  readonly alarmEmail?: string | undefined
  readonly smsSpendLimit?: string | undefined
  readonly monthlyBudget?: string | undefined
  readonly tracing?: string | undefined
  readonly canaryMinutes?: string | undefined
  readonly domain?: string | undefined
}

/** SNS's limit in a new account. */
const DEFAULT_SMS_SPEND_LIMIT = '1'

/** @throws Error that names the invalid setting */
export function monitoringSettings({
  alarmEmail,
  smsSpendLimit = DEFAULT_SMS_SPEND_LIMIT,
  monthlyBudget,
  tracing = 'off',
  canaryMinutes,
  domain,
}: MonitoringContext): MonitoringSettings {
  if (alarmEmail !== undefined && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(alarmEmail))
    throw new Error(`alarmEmail is not an email address: "${alarmEmail}".`)
  if (tracing !== 'on' && tracing !== 'off') throw new Error(`tracing must be "on" or "off": "${tracing}".`)
  return {
    alarmEmail,
    smsSpendLimit: dollars('smsSpendLimit', smsSpendLimit),
    monthlyBudget: monthlyBudget === undefined ? undefined : dollars('monthlyBudget', monthlyBudget),
    tracing: tracing === 'on',
    canary: canarySettings(canaryMinutes, domain),
  }
}

function canarySettings(
  minutes: string | undefined,
  domain: string | undefined,
): MonitoringSettings['canary'] {
  if (minutes === undefined) return undefined
  if (!/^[1-9]\d?$/.test(minutes) || Number(minutes) > 60)
    throw new Error(`canaryMinutes must be an integer from 1 to 60: "${minutes}".`)
  if (domain === undefined) throw new Error('canaryMinutes needs a domain, which the canary requests.')
  return { minutes: Number(minutes), domain }
}

function dollars(name: string, value: string): number {
  if (!/^[1-9]\d{0,6}$/.test(value)) throw new Error(`${name} must be an integer of US dollars: "${value}".`)
  return Number(value)
}
