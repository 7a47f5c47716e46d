// After a lost connection: try again until it works, at once when the browser says that it is back.

import { useCallback, useEffect, useRef, useState } from 'react'

export type Connection = 'fine' | 'lost'

const PAUSES = [300, 700, 1500, 3000, 5000]

export function useReconnect(catchUp: () => Promise<void>): { connection: Connection; lose: () => void } {
  const [connection, setConnection] = useState<Connection>('fine')
  const run = useRef(catchUp)
  run.current = catchUp
  const lose = useCallback(() => setConnection('lost'), [])
  useEffect(() => {
    if (connection === 'fine') return
    let timer: ReturnType<typeof setTimeout> | undefined
    let tries = 0
    let trying = false
    let over = false
    const attempt = () => {
      clearTimeout(timer)
      if (trying || over) return
      trying = true
      run
        .current()
        .then(
          () => {
            if (!over) setConnection('fine')
          },
          () => {
            if (!over) timer = setTimeout(attempt, PAUSES[Math.min(tries++, PAUSES.length - 1)])
          },
        )
        .finally(() => {
          trying = false
        })
    }
    const back = () => {
      if (document.visibilityState === 'visible') attempt()
    }
    timer = setTimeout(attempt, PAUSES[0])
    window.addEventListener('online', back)
    document.addEventListener('visibilitychange', back)
    return () => {
      over = true
      clearTimeout(timer)
      window.removeEventListener('online', back)
      document.removeEventListener('visibilitychange', back)
    }
  }, [connection])
  return { connection, lose }
}
