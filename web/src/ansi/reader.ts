// Reads terminal output piece by piece and tells text, control characters and colour sequences apart. A piece may end in
// the middle of a sequence. Whatever is not known is dropped, and no sequence can swallow more than a bounded stretch.

export interface Hearer {
  text: (text: string) => void
  /** Line feed, carriage return, backspace, tab. */
  control: (which: '\n' | '\r' | '\b' | '\t') => void
  /** `ESC [ parameters final`, without private marks and intermediate characters. */
  sequence: (parameters: string, final: string) => void
}

type State = 'ground' | 'escape' | 'charset' | 'sequence' | 'title' | 'string'

/** No real colour sequence is longer. */
const LONGEST_SEQUENCE = 256
/** A title, a link or a picture that has no end is not allowed to hide the rest. */
const LONGEST_STRING = 65_536

const PLAIN_RUN = /[^\x00-\x1f\x7f-\x9f]+/y

export class Reader {
  #state: State = 'ground'
  #parameters = ''
  #length = 0
  readonly #hearer: Hearer

  constructor(hearer: Hearer) {
    this.#hearer = hearer
  }

  read(piece: string): void {
    for (let at = 0; at < piece.length; ) {
      if (this.#state === 'ground') {
        PLAIN_RUN.lastIndex = at
        const run = PLAIN_RUN.exec(piece)
        if (run) {
          this.#hearer.text(run[0])
          at += run[0].length
          continue
        }
      }
      if (this.#takes(piece.charAt(at))) at++
    }
  }

  /** Whether the character belongs to what is being read; if not, it is looked at once more as plain output. */
  #takes(letter: string): boolean {
    // These end any sequence.
    if (letter === '\x1b') return this.#enter('escape')
    if (letter === '\x18' || letter === '\x1a') return this.#enter('ground')
    switch (this.#state) {
      case 'ground':
        if (letter === '\n' || letter === '\r' || letter === '\b' || letter === '\t') this.#hearer.control(letter)
        return true
      case 'escape':
        return this.#afterEscape(letter)
      case 'charset':
        this.#enter('ground')
        return letter >= ' ' && letter <= '~'
      case 'sequence':
        return this.#inSequence(letter)
      case 'title':
      case 'string':
        return this.#inString(letter)
    }
  }

  #afterEscape(letter: string): boolean {
    if (letter === '[') return this.#enter('sequence')
    if (letter === ']') return this.#enter('title')
    if (letter === 'P' || letter === 'X' || letter === '^' || letter === '_') return this.#enter('string')
    if (letter >= ' ' && letter <= '/') return this.#enter('charset')
    this.#enter('ground')
    return letter >= ' ' && letter <= '~'
  }

  #inSequence(letter: string): boolean {
    if (letter >= '@' && letter <= '~') {
      const parameters = this.#parameters
      const known = this.#length <= LONGEST_SEQUENCE && /^[\d;:]*$/.test(parameters)
      this.#enter('ground')
      if (known) this.#hearer.sequence(parameters, letter)
      return true
    }
    if (letter < ' ' || letter > '~' || this.#length >= LONGEST_STRING) {
      this.#enter('ground')
      return false
    }
    if (this.#length++ < LONGEST_SEQUENCE) this.#parameters += letter
    return true
  }

  #inString(letter: string): boolean {
    if (letter === '\x07' || letter === '\x9c') return this.#enter('ground')
    if ((this.#state === 'title' && letter === '\n') || this.#length >= LONGEST_STRING) {
      this.#enter('ground')
      return false
    }
    this.#length++
    return true
  }

  #enter(state: State): true {
    this.#state = state
    this.#parameters = ''
    this.#length = 0
    return true
  }
}
