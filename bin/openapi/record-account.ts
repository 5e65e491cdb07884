import type { ExampleRecorder } from './example-recorder.ts'

export async function recordAccount({ recordSuccess }: ExampleRecorder): Promise<void> {
  await recordSuccess('get-me', '/me')
  await recordSuccess('get-health', '/health')
  await recordSuccess('get-clinic', '/clinic')
}
