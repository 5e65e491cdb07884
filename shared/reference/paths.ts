/**
 * What is served beside the API, to anybody: resources of the gateway outside the base path, which stays for
 * credentials alone.
 */
export const REFERENCE_RESOURCES = ['/openapi.json', '/errors.json', '/docs', '/docs/{proxy+}'] as const
