/** The policies of a record's fields (shared/domain/field-policy.ts), as paths such as `patient.fullName`. */
type Policy = { erasure: unknown; emitsEvent: boolean } | { fields: object } | { each: object }

/** The fields that erasure replaces. */
export const erasedFields = (policies: object): string[] =>
  pathsOf(policies, ({ erasure }) => erasure !== 'keep')

/** The fields whose change alone makes no event. */
export const silentFields = (policies: object): string[] => pathsOf(policies, ({ emitsEvent }) => !emitsEvent)

/** All fields, at every depth. */
export const allFields = (policies: object): string[] => pathsOf(policies, () => true)

function pathsOf(
  policies: object,
  isMatch: (policy: { erasure: unknown; emitsEvent: boolean }) => boolean,
): string[] {
  return Object.entries(policies as Record<string, Policy>).flatMap(([name, policy]) => {
    if ('erasure' in policy) return isMatch(policy) ? [name] : []
    const nested = 'each' in policy ? policy.each : policy.fields
    return pathsOf(nested, isMatch).map((path) => `${name}.${path}`)
  })
}
