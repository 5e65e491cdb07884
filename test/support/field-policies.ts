/** A policy of shared/domain/field-policy.ts, without its types. */
type Policy = { emitsEvent: boolean } | { fields: object } | { each: object }

/** The fields whose change alone makes no event, as paths such as `patient.fullName`. */
export const silentFields = (policies: object): string[] =>
  Object.entries(policies as Record<string, Policy>).flatMap(([name, policy]) => {
    if ('emitsEvent' in policy) return policy.emitsEvent ? [] : [name]
    return silentFields('each' in policy ? policy.each : policy.fields).map((path) => `${name}.${path}`)
  })
