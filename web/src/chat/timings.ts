// How long a call or a thought took, as this page saw it. Nothing is invented for what was over before it was opened.

const begun = new Map<string, number>()
const took = new Map<string, number>()
const MOST = 2000

export function noteTiming(key: string, running: boolean): number | undefined {
  const done = took.get(key)
  if (done !== undefined) return done
  const start = begun.get(key)
  if (running) {
    if (start === undefined) {
      if (begun.size >= MOST) begun.clear()
      begun.set(key, performance.now())
    }
    return undefined
  }
  if (start === undefined) return undefined
  const time = performance.now() - start
  begun.delete(key)
  if (took.size >= MOST) took.clear()
  took.set(key, time)
  return time
}
