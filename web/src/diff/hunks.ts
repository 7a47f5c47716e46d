// Reads a unified diff of one file into hunks of numbered lines.

export type LineKind = 'same' | 'add' | 'remove'

export interface DiffLine {
  kind: LineKind
  text: string
  /** Its number in the file before; absent for an added line. */
  old?: number
  /** Its number in the file after; absent for a removed line. */
  new?: number
  /** The file ends here without a line break. */
  noNewline?: boolean
}

export interface Hunk {
  /** What the diff says after the line numbers: usually the function. */
  heading: string
  /** Whether the line numbers are those of the file. */
  placed: boolean
  lines: DiffLine[]
}

const HEAD = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/

/** A hunk that begins at 0 on both sides, or a diff without `@@`, has no known place. Lines of no known kind are left out. */
export function parseHunks(diff: string): Hunk[] {
  const hunks: Hunk[] = []
  let hunk: Hunk | undefined
  let old = 1
  let now = 1
  const lines = diff.split('\n')
  if (lines.at(-1) === '') lines.pop()
  for (const line of lines) {
    const head = HEAD.exec(line)
    if (head) {
      old = Number(head[1])
      now = Number(head[2])
      hunk = { heading: head[3] ?? '', placed: old > 0 || now > 0, lines: [] }
      hunks.push(hunk)
      continue
    }
    if (!hunk) {
      if (/^(?:--- |\+\+\+ |diff |index )/.test(line)) continue
      hunk = { heading: '', placed: false, lines: [] }
      hunks.push(hunk)
    }
    const text = line.slice(1)
    // An editor or a mail program may have removed the space of an empty line.
    if (line.startsWith(' ') || line === '') hunk.lines.push({ kind: 'same', text, old: old++, new: now++ })
    else if (line.startsWith('+')) hunk.lines.push({ kind: 'add', text, new: now++ })
    else if (line.startsWith('-')) hunk.lines.push({ kind: 'remove', text, old: old++ })
    else if (line.startsWith('\\')) {
      const last = hunk.lines.at(-1)
      if (last) last.noNewline = true
    }
  }
  return hunks
}
