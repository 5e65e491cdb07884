import { expect, it } from 'vitest'
import { pathPrefix } from '../../../shared/http/path-prefix.ts'

it.each([
  ['/prod/api/developer/v1/patients', '/api/developer/v1', '/prod'],
  ['/api/developer/v1/patients', '/api/developer/v1', ''],
  ['/clinics/api/developer/v1/webhooks/7/ping', '/api/developer/v1', '/clinics'],
  ['/dev/openapi.json', '/openapi.json', '/dev'],
  // With a prefix of slashes, `location` would begin with the name of another host.
  ['//api/developer/v1/patients', '/api/developer/v1', ''],
  ['//example.com/api/developer/v1/patients', '/api/developer/v1', ''],
  ['/elsewhere', '/api/developer/v1', ''],
  [undefined, '/api/developer/v1', ''],
])('what precedes our own path in %s', (sent, own, prefix) => {
  expect(pathPrefix(sent, own)).toBe(prefix)
})
