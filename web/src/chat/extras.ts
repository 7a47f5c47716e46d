// What other surfaces know about a chat: files that were made, and what it cost. A server without them shows nothing.

import { useEffect, useState } from 'react'
import { call } from '../api/client'

export interface MadeFile {
  id: string
  name: string
  mediaType: string
  bytes: number
}

/** Looked at when the chat is opened and whenever a run has ended; not while `waits`. */
export function useMadeFiles(chat: string, waits: boolean): readonly MadeFile[] {
  const [files, setFiles] = useState<readonly MadeFile[]>([])
  useEffect(() => {
    if (waits) return
    const gone = new AbortController()
    call<{ artifacts: MadeFile[] }>('GET', `/api/artifacts?chatId=${encodeURIComponent(chat)}&limit=100`, { signal: gone.signal }).then(
      (list) => setFiles(list.artifacts),
      () => undefined,
    )
    return () => gone.abort()
  }, [chat, waits])
  return files
}

/** In US dollars, when prices are known. */
export function useSpending(chat: string, waits: boolean): number | undefined {
  const [spending, setSpending] = useState<number>()
  useEffect(() => {
    if (waits) return
    const gone = new AbortController()
    call<{ total: { cost: number } }>('GET', `/api/usage?by=session&session=${encodeURIComponent(chat)}`, { signal: gone.signal }).then(
      ({ total }) => setSpending(total.cost > 0 ? total.cost : undefined),
      () => undefined,
    )
    return () => gone.abort()
  }, [chat, waits])
  return spending
}

