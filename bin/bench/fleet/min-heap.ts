/** A binary heap of numbers. */
export function minHeap() {
  const heap: number[] = []
  const valueAt = (index: number): number => heap[index] as number

  function push(value: number): void {
    let index = heap.push(value) - 1
    for (let parent = (index - 1) >> 1; index > 0 && valueAt(parent) > value; parent = (index - 1) >> 1) {
      heap[index] = valueAt(parent)
      index = parent
    }
    heap[index] = value
  }

  function pop(): void {
    const value = heap.pop() as number
    if (heap.length === 0) return
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child + 1 < heap.length && valueAt(child + 1) < valueAt(child)) child++
      if (child >= heap.length || valueAt(child) >= value) break
      heap[index] = valueAt(child)
      index = child
    }
    heap[index] = value
  }

  return { push, pop, peek: (): number | undefined => heap[0] }
}
