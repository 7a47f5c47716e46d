// Cuts Markdown that is still growing into blocks. A block that is followed by another one never changes again, so a
// long answer costs each delta only its last block.

export interface Block {
  text: string
  /** A fenced block is taken apart here: the parser must not read a growing one again and again. */
  code?: { language: string; closed: boolean }
}

const FENCE = /^ {0,3}(`{3,}|~{3,})([^`\n]*)$/
const MATH = /^ {0,3}(\$\$|\\\[)\s*$/
const LIST = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/
/** Lines that hold a block together even when a blank line stands before them. */
const INDENTED = /^(?: {2,}|\t)/

interface Open {
  start: number
  fence?: { mark: string; language: string; from: number }
  math?: string
  list: boolean
  blank: boolean
}

/** Keeps what is settled between calls; gives it a text that is not a continuation and it starts again. */
export class BlockSplitter {
  #settled: Block[] = []
  #seen = ''
  /** Everything before this is settled or was looked at line by line. */
  #at = 0
  #open: Open | undefined

  blocks(text: string): Block[] {
    if (!text.startsWith(this.#seen)) {
      this.#settled = []
      this.#at = 0
      this.#open = undefined
    }
    this.#seen = text
    // A line without its end may still become anything: it belongs to the last block, but decides nothing yet.
    let end = text.indexOf('\n', this.#at)
    while (end !== -1) {
      this.#line(text, this.#at, end)
      this.#at = end + 1
      end = text.indexOf('\n', this.#at)
    }
    const rest = text.slice(this.#at)
    const blocks = this.#settled.slice()
    const open = this.#open
    if (open?.fence && rest.trim() !== '' && isClosing(rest, open.fence.mark)) {
      blocks.push(codeBlock(text, open.fence, this.#at, true))
    } else if (open?.fence) {
      blocks.push(codeBlock(text, open.fence, text.length, false))
    } else if (open?.blank && !open.math && rest.trim() !== '' && startsAnew(rest, open)) {
      push(blocks, text.slice(open.start, this.#at))
      push(blocks, rest)
    } else {
      push(blocks, text.slice(open?.start ?? this.#at))
    }
    return blocks
  }

  #line(text: string, from: number, to: number) {
    const line = text.slice(from, to).replace(/\r$/, '')
    const open = this.#open
    if (open?.fence) {
      if (!isClosing(line, open.fence.mark)) return
      this.#settled.push(codeBlock(text, open.fence, from, true))
      this.#open = undefined
      return
    }
    if (open?.math) {
      if (line.trim().endsWith(open.math)) {
        push(this.#settled, text.slice(open.start, to))
        this.#open = undefined
      }
      return
    }
    if (line.trim() === '') {
      if (open) open.blank = true
      return
    }
    if (open?.blank && startsAnew(line, open)) {
      push(this.#settled, text.slice(open.start, from))
      this.#open = undefined
    }
    const fence = FENCE.exec(line)
    const math = MATH.exec(line)
    if ((fence || math) && (!this.#open || !this.#open.list)) {
      if (this.#open) push(this.#settled, text.slice(this.#open.start, from))
      this.#open = { start: from, list: false, blank: false }
      if (fence) {
        this.#open.fence = { mark: fence[1] ?? '```', language: (fence[2] ?? '').trim().split(/\s/)[0] ?? '', from: to + 1 }
      } else {
        this.#open.math = math?.[1] === '\\[' ? '\\]' : '$$'
      }
      return
    }
    if (!this.#open) this.#open = { start: from, list: LIST.test(line), blank: false }
    this.#open.blank = false
  }
}

function startsAnew(line: string, open: Open): boolean {
  if (INDENTED.test(line)) return false
  return !(open.list && LIST.test(line))
}

function isClosing(line: string, mark: string): boolean {
  const trimmed = line.trim()
  return trimmed.length >= mark.length && trimmed.startsWith(mark) && trimmed === (mark[0] ?? '`').repeat(trimmed.length)
}

function codeBlock(text: string, fence: { language: string; from: number }, to: number, closed: boolean): Block {
  const code = text.slice(Math.min(fence.from, to), to)
  return { text: closed && code.endsWith('\n') ? code.slice(0, -1) : code, code: { language: fence.language, closed } }
}

function push(blocks: Block[], text: string) {
  if (text.trim() !== '') blocks.push({ text })
}

const NESTED = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])))+/
const RUN = /([[\](*_`~<!$\\])\1{79,}|(?:\]\(|!\[|<!|\*_|_\*|`\s){60,}/
export const LARGEST_BLOCK = 60_000

/** Whether a block is safe to parse: nesting and runs of marks that only an attacker writes stay plain text. */
export function isTame(text: string): boolean {
  if (text.length > LARGEST_BLOCK || RUN.test(text)) return false
  for (const line of text.split('\n')) {
    const nested = NESTED.exec(line)
    if (nested && nested[0].replace(/[^>+*\-.)]/g, '').length > 16) return false
    if (/^[ \t]{120,}/.test(line)) return false
  }
  return true
}
