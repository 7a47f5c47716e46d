// Sends what a person types to a command: in order, one request at a time, what is typed meanwhile together in the next.

import type { JobInput, TerminalSize } from '../api/workspace-types'

/** What a key press adds within this time goes with it. */
const GATHER = 12
/** A long paste goes in pieces. */
const MOST = 16_384

export class InputQueue {
  readonly #send: (input: JobInput) => Promise<void>
  readonly #failed: (error: Error | undefined) => void
  #chars = ''
  #size: TerminalSize | undefined
  #busy = false
  #closed = false

  /** `failed` hears of an input that was not sent, and with nothing of one that was. */
  constructor(send: (input: JobInput) => Promise<void>, failed: (error: Error | undefined) => void) {
    this.#send = send
    this.#failed = failed
  }

  type(chars: string): void {
    this.#chars += chars
    void this.#run()
  }

  resize(size: TerminalSize): void {
    this.#size = size
    void this.#run()
  }

  close(): void {
    this.#closed = true
  }

  async #run(): Promise<void> {
    if (this.#busy) return
    this.#busy = true
    await new Promise((resolve) => setTimeout(resolve, GATHER))
    while (!this.#closed && (this.#chars !== '' || this.#size)) {
      const chars = piece(this.#chars)
      const size = this.#size
      this.#chars = this.#chars.slice(chars.length)
      this.#size = undefined
      try {
        await this.#send({ chars, ...(size ? { size } : {}) })
        this.#failed(undefined)
      } catch (error) {
        // The rest of a line without its beginning could do harm.
        this.#chars = ''
        if (!this.#closed) this.#failed(error instanceof Error ? error : new Error(String(error)))
      }
    }
    this.#busy = false
  }
}

/** Not through the middle of a character. */
function piece(chars: string): string {
  const cut = chars.slice(0, MOST)
  return /[\ud800-\udbff]$/.test(cut) && cut.length < chars.length ? cut.slice(0, -1) : cut
}
