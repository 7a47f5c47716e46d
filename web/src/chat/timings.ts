// How long a call or a thought took, as this page saw it. Nothing is invented for what was over before it was opened. A call
// that waited for a person runs a second time: only that time counts.

const begun = new Map<string, number>()
const took = new Map<string, number>()
const MOST = 2000

export function noteTiming(key: string, running: boolean): number | undefined {
  const start = begun.get(key)
  if (running) {
    if (start === undefined) {
      took.delete(key)
      if (begun.size >= MOST) begun.clear()
      begun.set(key, performance.now())
    }
    return undefined
  }
  if (start === undefined) return took.get(key)
  const time = performance.now() - start
  begun.delete(key)
  if (took.size >= MOST) took.clear()
  took.set(key, time)
  return time
}
