// Follows the output of a command until it ends, over lost connections: each try goes on where the last one stopped.

import { eventData } from '../api/event-stream'
import { ApiProblem } from '../api/problem'
import type { Job, JobEvent } from '../api/workspace-types'
import { openOutput } from './routes'

export interface Follower {
  /** `offset`: the place of the first byte in the whole output. */
  output: (text: string, offset: number) => void
  /** So many bytes before the next output are no longer kept. */
  gap: (bytes: number) => void
  connection: (state: 'fine' | 'lost') => void
  ended: (job: Job) => void
  /** Nothing more will come: the server refuses. */
  failed: (error: Error) => void
}

const PAUSES = [300, 700, 1500, 3000, 5000]

/** Ends when the command has ended, when the server refuses, or with `signal`. */
export async function followJob(id: string, follower: Follower, signal: AbortSignal): Promise<void> {
  const place = new Place(follower)
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      const body = await openOutput(id, place.resume(), signal)
      follower.connection('fine')
      for await (const data of eventData(body)) {
        if (signal.aborted) return
        tries = 0
        const event = JSON.parse(data) as JobEvent
        if (event.type === 'ended') return follower.ended(event.job)
        if (event.type === 'output') place.take(event.text, event.offset)
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiProblem && error.status >= 400 && error.status < 500) return follower.failed(error)
    }
    if (signal.aborted) return
    follower.connection('lost')
    await pause(PAUSES[Math.min(tries, PAUSES.length - 1)] ?? 0, signal)
  }
}

/**
 * Where the output has arrived. After a lost connection the last piece is asked for once more and its known beginning is
 * left out: the server counts bytes, and the length of the text says too much where bytes were not text.
 */
class Place {
  readonly #follower: Follower
  /** The last piece that was passed on. */
  #last = { offset: 0, text: '' }
  /** What is still to be left out of what comes next. */
  #known = ''

  constructor(follower: Follower) {
    this.#follower = follower
  }

  resume(): number {
    this.#known = this.#last.text
    return this.#last.offset
  }

  take(text: string, offset: number): void {
    const known = this.#known
    const next = this.#last.offset + byteLength(this.#last.text)
    if (known !== '' && offset < next && known.startsWith(text)) {
      this.#known = known.slice(text.length)
      return
    }
    this.#known = ''
    this.#last = { offset, text }
    if (known !== '' && offset < next && text.startsWith(known)) return this.#follower.output(text.slice(known.length), offset + byteLength(known))
    if (offset > next) this.#follower.gap(offset - next)
    this.#follower.output(text, offset)
  }
}

const byteLength = (text: string): number => new TextEncoder().encode(text).length

/** Shorter when the browser says that it is back. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      clearTimeout(timer)
      window.removeEventListener('online', over)
      signal.removeEventListener('abort', over)
      resolve()
    }
    const timer = setTimeout(over, milliseconds)
    window.addEventListener('online', over)
    signal.addEventListener('abort', over)
  })
}
