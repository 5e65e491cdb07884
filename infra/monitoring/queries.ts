/** Queries of Logs Insights that are saved with the stack, by name. A person fills in what is in capital letters. */

export type Query = {
  /** Whose lines it reads. */
  readonly logs: 'functions' | 'gateway' | 'all'
  readonly text: readonly string[]
}

export const QUERIES: Readonly<Record<string, Query>> = {
  'by-request-id': {
    logs: 'all',
    text: [
      'fields @timestamp, method, route, worker, status, error, gateway_error, outcome, duration_ms, latency_ms, @log',
      'filter request_id = "REQUEST_ID"',
      'sort @timestamp asc',
      'limit 200',
    ],
  },
  'by-credential': {
    logs: 'functions',
    text: [
      'filter ispresent(route) and ispresent(status)',
      'filter credential = "KEY" or refused_key = "KEY"',
      'stats count(*) as requests, pct(duration_ms, 99) as p99_ms by route, status, bin(5m)',
      'sort requests desc',
      'limit 200',
    ],
  },
  'busiest-credentials': {
    logs: 'functions',
    text: [
      'filter ispresent(route) and ispresent(status)',
      'stats count(*) as requests, sum(duration_ms) as total_ms by credential, clinic_id, route',
      'sort requests desc',
      'limit 50',
    ],
  },
  'by-address': {
    logs: 'functions',
    text: [
      'filter type = "access" and source_ip = "ADDRESS"',
      'stats count(*) as requests by route, outcome, credential',
      'sort requests desc',
      'limit 200',
    ],
  },
  'slowest-routes': {
    logs: 'functions',
    text: [
      'filter ispresent(route) and ispresent(duration_ms)',
      'stats count(*) as requests, pct(duration_ms, 50) as p50_ms, pct(duration_ms, 99) as p99_ms by route',
      'sort p99_ms desc',
      'limit 50',
    ],
  },
  'failed-deliveries': {
    logs: 'functions',
    text: [
      'filter worker = "deliver-event" and outcome in ["rejected", "unreachable"]',
      'stats count(*) as attempts by clinic_id, outcome, status, reason',
      'sort attempts desc',
      'limit 100',
    ],
  },
  'refused-by-gateway': {
    logs: 'gateway',
    text: [
      'filter ispresent(gateway_error) and gateway_error != "-"',
      'stats count(*) as requests by status, gateway_error, ip, bin(5m)',
      'sort requests desc',
      'limit 200',
    ],
  },
  // A function that times out, runs out of memory or cannot be loaded writes no line of its own; Lambda reports it. Its stream has its name.
  'failed-invocations': {
    logs: 'functions',
    text: [
      'filter type = "platform.report" and record.status != "success"',
      'parse @logStream /(?<function_name>clinic-[^\\/\\[]+)\\[/',
      'stats count(*) as invocations by function_name, record.status, record.errorType, bin(5m)',
      'sort invocations desc',
      'limit 100',
    ],
  },
  errors: {
    logs: 'functions',
    text: [
      'filter level = "error"',
      'fields @timestamp, request_id, route, worker, error, origin.name, origin.at.0',
      'sort @timestamp desc',
      'limit 200',
    ],
  },
}

/** The text of a query, as Logs Insights takes it. */
export const queryText = ({ text }: Query): string => text.join('\n| ')

/** The traffic of each route, for the dashboard: metrics of methods would cost more than all of the other metrics. */
export const TRAFFIC_BY_ROUTE: readonly string[] = [
  'stats count(*) as requests, pct(latency_ms, 99) as p99_ms, sum(status >= 500) as errors by method, route',
  'sort requests desc',
  'limit 50',
]
