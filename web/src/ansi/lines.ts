// Terminal output as lines of styled text: a carriage return or a backspace goes back and overwrites, as a progress bar
// does; cursor movement beyond the line is not followed. What is kept is bounded: the oldest lines go first.

import { Reader } from './reader'
import { afterSgr, PLAIN, type Style } from './style'

export interface Span {
  text: string
  style: Style
}

/** Is replaced, never changed: the same object is the same line. */
export interface Line {
  /** Stays the same for the same line of the output. */
  number: number
  spans: readonly Span[]
  /** The line goes on in the next one: it was too long. */
  goesOn: boolean
}

export interface Kept {
  lines: readonly Line[]
  /** How many lines at the beginning are no longer kept. */
  dropped: number
}

interface Limits {
  lines: number
  characters: number
  columns: number
}

const LIMITS: Limits = { lines: 5000, characters: 1_000_000, columns: 20_000 }
const TAB = 8

export class Lines {
  readonly #limits: Limits
  readonly #reader = new Reader({
    text: (text) => this.#write(text),
    control: (which) => this.#control(which),
    sequence: (parameters, final) => this.#sequence(parameters, final),
  })
  #done: Line[] = []
  /** In characters, of the lines that are done. */
  #size = 0
  #dropped = 0
  #number = 0
  #letters: string[] = []
  #styles: Style[] = []
  #column = 0
  #style: Style = PLAIN

  constructor(limits: Partial<Limits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
  }

  add(piece: string): void {
    this.#reader.read(piece)
  }

  /** An empty last line is none: most output ends with a line feed. */
  kept(): Kept {
    const last = this.#letters.length > 0 ? [this.#lineNow(false)] : []
    return { lines: [...this.#done, ...last], dropped: this.#dropped }
  }

  #write(text: string): void {
    for (const letter of text) {
      if (this.#column >= this.#limits.columns) this.#endLine(true)
      this.#pad()
      this.#letters[this.#column] = letter
      this.#styles[this.#column] = this.#style
      this.#column++
    }
  }

  #control(which: '\n' | '\r' | '\b' | '\t'): void {
    switch (which) {
      case '\n':
        return this.#endLine(false)
      case '\r':
        this.#column = 0
        return
      case '\b':
        this.#column = Math.max(0, this.#column - 1)
        return
      case '\t':
        // Within what is written already it only moves; at the end it stays a tab, so that copying gives a tab.
        if (this.#column >= this.#letters.length) this.#write('\t')
        else this.#column = Math.min(this.#letters.length, (Math.floor(this.#column / TAB) + 1) * TAB)
    }
  }

  #sequence(parameters: string, final: string): void {
    if (final === 'm') {
      this.#style = afterSgr(this.#style, parameters)
      return
    }
    const count = Math.min(Number(/^\d+/.exec(parameters)?.[0] ?? 0), this.#limits.columns)
    if (final === 'K') this.#erase(count)
    else if (final === 'G') this.#column = Math.max(1, count) - 1
    else if (final === 'C') this.#column = Math.min(this.#column + Math.max(1, count), this.#limits.columns - 1)
    else if (final === 'D') this.#column = Math.max(0, this.#column - Math.max(1, count))
  }

  /** Of the line: 0 from here to its end, 1 from its beginning to here, 2 all of it. */
  #erase(which: number): void {
    if (which === 0) {
      this.#letters.length = Math.min(this.#letters.length, this.#column)
      this.#styles.length = this.#letters.length
    } else if (which === 1) {
      const end = Math.min(this.#column + 1, this.#letters.length)
      this.#letters.fill(' ', 0, end)
      this.#styles.fill(PLAIN, 0, end)
    } else if (which === 2) {
      this.#letters = []
      this.#styles = []
    }
  }

  /** Blanks up to the place where the next character goes. */
  #pad(): void {
    while (this.#letters.length < this.#column) {
      this.#letters.push(' ')
      this.#styles.push(PLAIN)
    }
  }

  #endLine(goesOn: boolean): void {
    this.#done.push(this.#lineNow(goesOn))
    this.#size += this.#letters.length + 1
    this.#number++
    this.#letters = []
    this.#styles = []
    this.#column = 0
    this.#forget()
  }

  #lineNow(goesOn: boolean): Line {
    const spans: Span[] = []
    for (let at = 0, from = 0; at < this.#letters.length; at++) {
      if (at + 1 < this.#letters.length && this.#styles[at + 1] === this.#styles[at]) continue
      spans.push({ text: this.#letters.slice(from, at + 1).join(''), style: this.#styles[at] ?? PLAIN })
      from = at + 1
    }
    return { number: this.#number, spans, goesOn }
  }

  /** Not one by one: taking from the front of a long list is slow. */
  #forget(): void {
    const { lines, characters } = this.#limits
    if (this.#done.length <= lines * 1.1 && this.#size <= characters * 1.1) return
    let count = 0
    while (count < this.#done.length - 1 && (this.#done.length - count > lines || this.#size > characters)) {
      this.#size -= lengthOf(this.#done[count]) + 1
      count++
    }
    this.#done.splice(0, count)
    this.#dropped += count
  }
}

const lengthOf = (line: Line | undefined): number => line?.spans.reduce((sum, span) => sum + [...span.text].length, 0) ?? 0

/** For an output that is short already, its beginning included. */
export function linesOf(output: string): Kept {
  const lines = new Lines({ lines: 20_000 })
  lines.add(output)
  return lines.kept()
}

/** As it reads, without colours. */
export function plainText(lines: readonly Line[]): string {
  return lines.map((line) => line.spans.map((span) => span.text).join('') + (line.goesOn ? '' : '\n')).join('')
}
