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
}

/** The settings that `-c` may set. */
export type MonitoringContext = {
  readonly alarmEmail?: string | undefined
  readonly smsSpendLimit?: string | undefined
  readonly monthlyBudget?: string | undefined
  readonly tracing?: string | undefined
}

/** SNS's limit in a new account. */
const DEFAULT_SMS_SPEND_LIMIT = '1'

/** @throws Error that names the invalid setting */
export function monitoringSettings({
  alarmEmail,
  smsSpendLimit = DEFAULT_SMS_SPEND_LIMIT,
  monthlyBudget,
  tracing = 'off',
}: MonitoringContext): MonitoringSettings {
  if (alarmEmail !== undefined && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(alarmEmail))
    throw new Error(`alarmEmail is not an email address: "${alarmEmail}".`)
  if (tracing !== 'on' && tracing !== 'off') throw new Error(`tracing must be "on" or "off": "${tracing}".`)
  return {
    alarmEmail,
    smsSpendLimit: dollars('smsSpendLimit', smsSpendLimit),
    monthlyBudget: monthlyBudget === undefined ? undefined : dollars('monthlyBudget', monthlyBudget),
    tracing: tracing === 'on',
  }
}

function dollars(name: string, value: string): number {
  if (!/^[1-9]\d{0,6}$/.test(value)) throw new Error(`${name} must be an integer of US dollars: "${value}".`)
  return Number(value)
}
