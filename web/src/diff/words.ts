// Compares two lines word by word, so that the changed words can be marked.

export interface Segment {
  text: string
  changed: boolean
}

export interface WordDiff {
  before: Segment[]
  after: Segment[]
  /** From 0 (nothing in common) to 1 (equal), by characters. */
  likeness: number
}

/** Words, runs of spaces, single signs; each Chinese character counts as a word. */
const WORD = /\p{Script=Han}|(?:(?!\p{Script=Han})[\p{L}\p{N}_])+|\s+|./gsu
/** Above this many comparisons only the common beginning and end are found. */
const MOST_WORK = 60_000
const LONGEST_LINE = 4000

export function diffWords(before: string, after: string): WordDiff {
  if (before.length > LONGEST_LINE || after.length > LONGEST_LINE) return { before: whole(before), after: whole(after), likeness: 0 }
  const old = before.match(WORD) ?? []
  const now = after.match(WORD) ?? []
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end++
  const kept = commonWords(old.slice(start, old.length - end), now.slice(start, now.length - end))
  const keptOld = new Set(kept.map(([place]) => place + start))
  const keptNow = new Set(kept.map(([, place]) => place + start))
  const isKept = (set: Set<number>, length: number) => (at: number) => at < start || at >= length - end || set.has(at)
  const oldKept = isKept(keptOld, old.length)
  const common = old.reduce((sum, word, at) => sum + (oldKept(at) && word.trim() !== '' ? word.length : 0), 0)
  const size = Math.max(blackness(before), blackness(after))
  return {
    before: segments(old, oldKept),
    after: segments(now, isKept(keptNow, now.length)),
    likeness: size === 0 ? 1 : common / size,
  }
}

const whole = (text: string): Segment[] => [{ text, changed: true }]

/** How many characters can be seen. */
const blackness = (text: string): number => text.replace(/\s+/g, '').length

/** The longest common subsequence, as pairs of places. */
function commonWords(old: readonly string[], now: readonly string[]): [number, number][] {
  if (old.length === 0 || now.length === 0 || old.length * now.length > MOST_WORK) return []
  const width = now.length + 1
  const best = new Uint16Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      best[i * width + j] = old[i] === now[j] ? (best[(i + 1) * width + j + 1] ?? 0) + 1 : Math.max(best[(i + 1) * width + j] ?? 0, best[i * width + j + 1] ?? 0)
    }
  }
  const pairs: [number, number][] = []
  let i = 0
  let j = 0
  while (i < old.length && j < now.length) {
    if (old[i] === now[j]) pairs.push([i++, j++])
    else if ((best[(i + 1) * width + j] ?? 0) >= (best[i * width + j + 1] ?? 0)) i++
    else j++
  }
  return pairs
}

/** Joins neighbours of one kind; a lone space between two changed words counts as changed. */
function segments(words: readonly string[], kept: (at: number) => boolean): Segment[] {
  const out: Segment[] = []
  words.forEach((word, at) => {
    const between = word.trim() === '' && at > 0 && at < words.length - 1 && !kept(at - 1) && !kept(at + 1)
    const changed = !kept(at) || between
    const last = out.at(-1)
    if (last && last.changed === changed) last.text += word
    else out.push({ text: word, changed })
  })
  return out
}
