/** The statistics of CloudWatch that alarms use, by name. */
export const STATISTICS: Record<string, (values: readonly number[]) => number> = {
  Sum: (values) => values.reduce((sum, value) => sum + value, 0),
  SampleCount: (values) => values.length,
  Average: (values) => values.reduce((sum, value) => sum + value, 0) / values.length,
  Maximum: (values) => Math.max(...values),
  Minimum: (values) => Math.min(...values),
}

/** The functions of metric math that the template uses. A period in which a metric has no value has no result. */
export function calculate(
  expression: string,
  values: Readonly<Record<string, number | null>>,
): number | null {
  const names = Object.keys(values)
  const filled = names.filter((name) => expression.includes(`FILL(${name},`))
  if (names.some((name) => values[name] === null && !filled.includes(name))) return null
  const run = new Function('IF', 'FILL', ...names, `return ${expression}`)
  return run(
    (condition: boolean, yes: number, no: number) => (condition ? yes : no),
    (value: number | null, otherwise: number) => value ?? otherwise,
    ...names.map((name) => values[name]),
  )
}
