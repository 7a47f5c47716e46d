// Whether an element has at least a given width. Not the window: a card beside a panel is narrow on a wide screen.

import { useLayoutEffect, useRef, useState, type RefObject } from 'react'

export function useWide<T extends HTMLElement>(least: number): { ref: RefObject<T | null>; wide: boolean } {
  const ref = useRef<T>(null)
  const [wide, setWide] = useState(false)
  useLayoutEffect(() => {
    const element = ref.current
    if (!element) return
    const measure = () => setWide(element.clientWidth >= least)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [least])
  return { ref, wide }
}
