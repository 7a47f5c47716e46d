// How long something has run, counted every second while it does.

import { useEffect, useState } from 'react'

/** `begun` by the clock of this browser. */
export function useElapsed(begun: number, running: boolean): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!running) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [running])
  return Math.max(0, now - begun)
}
