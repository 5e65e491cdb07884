import type { ExampleRecorder } from './example-recorder.ts'

export async function recordCatalogue({ recordSuccess }: ExampleRecorder): Promise<void> {
  await recordSuccess('list-departments', '/clinic/departments')
  await recordSuccess('list-rooms', '/clinic/rooms?limit=2')
  const treatments = await recordSuccess('list-treatments', '/clinic/treatments?limit=2')
  const { id } = treatments.body.data.find(({ is_active }: { is_active: boolean }) => is_active)
  await recordSuccess('get-treatment', `/clinic/treatments/${id}`)
  await recordSuccess('list-price-lists', '/clinic/price-lists?limit=1')
}
