// Draws a growing text no more often than its drawing costs: a short answer follows every frame, a block of 50 kB a few
// times a second. The end is always drawn at once.

import { useEffect, useRef, useState } from 'react'

/** A text may take one part in so many of the time. */
const SHARE = 5
const SLOWEST = 1000

export function useEasedText(text: string, streaming: boolean): string {
  const [shown, setShown] = useState(text)
  const newest = useRef(text)
  const begun = useRef(0)
  const cost = useRef(0)
  newest.current = text
  begun.current = performance.now()
  useEffect(() => {
    // From the beginning of the render to here: parsing and making the elements.
    cost.current = performance.now() - begun.current
  }, [shown])
  const behind = streaming && text !== shown
  useEffect(() => {
    if (!behind) return
    const timer = setTimeout(() => setShown(newest.current), Math.min(SLOWEST, cost.current * SHARE))
    return () => clearTimeout(timer)
  }, [behind, shown])
  return streaming && text.startsWith(shown) ? shown : text
}
