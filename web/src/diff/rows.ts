// Arranges the lines of a hunk as rows: below each other for the inline view, beside each other for the split view.
// Lines that were changed are paired with what they became, and their changed words are marked.

import type { DiffLine, Hunk } from './hunks'
import { diffWords, type Segment } from './words'

export interface ShownLine extends DiffLine {
  /** Present when the line is paired with a similar one. */
  words?: Segment[]
}

export interface SplitRow {
  left?: ShownLine
  right?: ShownLine
}

/** Lines with less in common than this are a removal and an addition, not a change. */
const SIMILAR = 0.4
/** Spaces do not count for the likeness, but for the length. */
const SHORTEST = 0.5
/** Larger blocks are paired by their order alone. */
const MOST_PAIRS = 225

type Block = { kind: 'same'; line: DiffLine } | { kind: 'change'; rows: SplitRow[] }

export const inlineRows = (hunk: Hunk): ShownLine[] =>
  blocks(hunk).flatMap((block): ShownLine[] => {
    if (block.kind === 'same') return [block.line]
    const left = block.rows.flatMap((row) => (row.left ? [row.left] : []))
    const right = block.rows.flatMap((row) => (row.right ? [row.right] : []))
    return [...left, ...right]
  })

export const splitRows = (hunk: Hunk): SplitRow[] => blocks(hunk).flatMap((block) => (block.kind === 'same' ? [{ left: block.line, right: block.line }] : block.rows))

function blocks(hunk: Hunk): Block[] {
  const out: Block[] = []
  let removed: DiffLine[] = []
  let added: DiffLine[] = []
  const close = () => {
    if (removed.length > 0 || added.length > 0) out.push({ kind: 'change', rows: pair(removed, added) })
    removed = []
    added = []
  }
  for (const line of hunk.lines) {
    if (line.kind === 'same') {
      close()
      out.push({ kind: 'same', line })
    } else if (line.kind === 'add') added.push(line)
    else {
      if (added.length > 0) close()
      removed.push(line)
    }
  }
  close()
  return out
}

/** Rows in the order of both sides; similar lines share a row. */
function pair(removed: readonly DiffLine[], added: readonly DiffLine[]): SplitRow[] {
  const rows: SplitRow[] = []
  let i = 0
  let j = 0
  const fill = (toOld: number, toNew: number) => {
    while (i < toOld || j < toNew) {
      const left = i < toOld ? removed[i++] : undefined
      const right = j < toNew ? added[j++] : undefined
      rows.push({ ...(left ? { left } : {}), ...(right ? { right } : {}) })
    }
  }
  for (const [old, now] of matches(removed, added)) {
    fill(old, now)
    const left = removed[i++]
    const right = added[j++]
    if (!left || !right) continue
    const words = diffWords(left.text, right.text)
    rows.push({ left: { ...left, words: words.before }, right: { ...right, words: words.after } })
  }
  fill(removed.length, added.length)
  return rows
}

/** The pairs of similar lines with the most in common, none crossing another. */
function matches(removed: readonly DiffLine[], added: readonly DiffLine[]): [number, number][] {
  const likeness = (i: number, j: number): number => {
    const [old, now] = [removed[i]?.text.trim() ?? '', added[j]?.text.trim() ?? '']
    // The shorter one cannot have more in common with the longer one than its own length.
    if (Math.min(old.length, now.length) < SIMILAR * SHORTEST * Math.max(old.length, now.length)) return 0
    const like = diffWords(old, now).likeness
    return like >= SIMILAR ? like : 0
  }
  if (removed.length * added.length > MOST_PAIRS) {
    const places = Array.from({ length: Math.min(removed.length, added.length, MOST_PAIRS) }, (_, at): [number, number] => [at, at])
    return places.filter(([i, j]) => likeness(i, j) > 0)
  }
  const width = added.length + 1
  const like = removed.map((_, i) => added.map((__, j) => likeness(i, j)))
  const best = new Float64Array((removed.length + 1) * width)
  for (let i = removed.length - 1; i >= 0; i--) {
    for (let j = added.length - 1; j >= 0; j--) {
      const here = like[i]?.[j] ?? 0
      const taken = here > 0 ? here + (best[(i + 1) * width + j + 1] ?? 0) : 0
      best[i * width + j] = Math.max(taken, best[(i + 1) * width + j] ?? 0, best[i * width + j + 1] ?? 0)
    }
  }
  const pairs: [number, number][] = []
  let i = 0
  let j = 0
  while (i < removed.length && j < added.length) {
    const here = like[i]?.[j] ?? 0
    const value = best[i * width + j] ?? 0
    if (here > 0 && value === here + (best[(i + 1) * width + j + 1] ?? 0)) pairs.push([i++, j++])
    else if (value === (best[(i + 1) * width + j] ?? 0)) i++
    else j++
  }
  return pairs
}
