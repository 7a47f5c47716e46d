// Tabs of one browser tell each other when a session changes, so that none waits for the next look at the server.

const channel = typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('concertino')

export function tellTabs(session: string): void {
  channel?.postMessage({ session })
}

export function hearTabs(listener: (session: string) => void): () => void {
  if (!channel) return () => undefined
  const hear = (event: MessageEvent<unknown>) => {
    const data = event.data
    if (typeof data === 'object' && data !== null && 'session' in data && typeof data.session === 'string') listener(data.session)
  }
  channel.addEventListener('message', hear)
  return () => channel.removeEventListener('message', hear)
}
