// Commands for tests: a list, and the routes that list, follow, feed and stop them.

import { problem, type FakeServer } from '../api/fake-server.fixture'
import type { Job, JobEvent } from '../api/workspace-types'

export const makeJob = (id: string, change: Partial<Job> = {}): Job => ({
  id,
  chatId: 'c',
  toolCallId: `call of ${id}`,
  command: `run ${id}`,
  workdir: '/workspace',
  tty: false,
  state: 'running',
  startedAt: 1_000,
  durationMs: 5_000,
  outputBytes: 0,
  sandbox: 'files: landlock 7; network: none',
  ...change,
})

/** A stream of events that ends, or breaks with an error, after them. */
export function eventStream(events: readonly JobEvent[], then: 'end' | 'break' | 'wait' = 'end'): Response {
  const bytes = new TextEncoder().encode(events.map((event) => `: a comment\n\ndata: ${JSON.stringify(event)}\n\n`).join(''))
  // In uneven pieces, as a network gives them.
  const pieces = Array.from({ length: Math.ceil(bytes.length / 37) }, (_, at) => bytes.subarray(at * 37, (at + 1) * 37))
  const body = new ReadableStream<Uint8Array>({
    pull(stream) {
      const piece = pieces.shift()
      if (piece) stream.enqueue(piece)
      else if (then === 'end') stream.close()
      else if (then === 'break') stream.error(new TypeError('network error'))
      else return new Promise(() => undefined)
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

export function jobRoutes(server: FakeServer, jobs: () => readonly Job[], output: (id: string, offset: number) => Response = () => eventStream([], 'wait')): void {
  server.on('GET /api/jobs', ({ query }) => ({ jobs: jobs().filter((job) => job.chatId === query.get('chatId')) }))
  for (const { id } of jobs()) {
    const find = () => jobs().find((job) => job.id === id) ?? problem(404, 'no such job', 'not_found')
    server.on(`GET /api/jobs/${id}`, find)
    server.on(`DELETE /api/jobs/${id}`, () => ({ ...find(), state: 'ended', signal: 'SIGTERM' }))
    server.on(`POST /api/jobs/${id}/input`, () => new Response(null, { status: 204 }))
    server.on(`GET /api/jobs/${id}/output`, ({ query }) => output(id, Number(query.get('offset'))))
  }
}
