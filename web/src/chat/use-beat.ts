// Counts up while something moves that React does not see.

import { useEffect, useState } from 'react'

export function useBeat(on: boolean): number {
  const [beat, setBeat] = useState(0)
  useEffect(() => {
    if (!on) return
    const timer = setInterval(() => setBeat((count) => count + 1), 500)
    return () => clearInterval(timer)
  }, [on])
  return beat
}
