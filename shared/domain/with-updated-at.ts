/** A record as it is stored, with the time of its last change: an ISO 8601 instant in UTC, which the store sets. */
export type WithUpdatedAt<Entity> = Entity & { readonly updatedAt: string }
