// Reads a stream of server-sent events: the data of each event, in order. Names and ids of events are not used here.

/** No event of this server is longer. */
const LONGEST_EVENT = 8_000_000

export async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      rest += decoder.decode(value, { stream: true })
      const events = rest.split(/\r?\n\r?\n/)
      rest = events.pop() ?? ''
      if (rest.length > LONGEST_EVENT) throw new Error('The server sent an event without an end.')
      for (const event of events) {
        const data = dataOf(event)
        if (data !== undefined) yield data
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function dataOf(event: string): string | undefined {
  const lines = event.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [line.slice(5).replace(/^ /, '')] : []))
  return lines.length > 0 ? lines.join('\n') : undefined
}
