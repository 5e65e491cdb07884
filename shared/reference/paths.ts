/**
 * The public resources of the gateway. They are outside the base path, below which every request needs a credential.
 */
export const REFERENCE_RESOURCES = ['/openapi.json', '/errors.json', '/docs', '/docs/{proxy+}'] as const
