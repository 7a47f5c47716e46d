// Stays at the end while the end grows, until the reader scrolls up; starts again when they come back.

import { useCallback, useEffect, useRef, useState, type RefObject } from 'react'

const NEAR = 48

export function useFollow(scroller: RefObject<HTMLElement | null>, content: RefObject<HTMLElement | null>) {
  const [following, setFollowing] = useState(true)
  const wanted = useRef(true)
  const last = useRef({ top: 0, height: 0 })

  const follow = useCallback((on: boolean) => {
    wanted.current = on
    setFollowing(on)
  }, [])

  const toEnd = useCallback(
    (behavior: ScrollBehavior) => {
      const element = scroller.current
      if (!element) return
      follow(true)
      element.scrollTo({ top: element.scrollHeight, behavior })
    },
    [scroller, follow],
  )

  useEffect(() => {
    const element = scroller.current
    const inside = content.current
    if (!element || !inside) return
    const onScroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = element
      const atEnd = scrollHeight - scrollTop - clientHeight < NEAR
      // Going up while the height stays is the reader's doing; everything else may be the content's.
      const up = scrollTop < last.current.top - 2 && scrollHeight >= last.current.height
      if (atEnd) follow(true)
      else if (up) follow(false)
      last.current = { top: scrollTop, height: scrollHeight }
    }
    const onWheel = (event: WheelEvent) => {
      if (event.deltaY < 0 && element.scrollHeight > element.clientHeight) follow(false)
    }
    const stay = () => {
      if (wanted.current) element.scrollTop = element.scrollHeight
      // What is all in sight has no end to go to.
      else if (element.scrollHeight <= element.clientHeight) follow(true)
    }
    const sizes = new ResizeObserver(stay)
    sizes.observe(inside)
    sizes.observe(element)
    element.addEventListener('scroll', onScroll, { passive: true })
    element.addEventListener('wheel', onWheel, { passive: true })
    return () => {
      sizes.disconnect()
      element.removeEventListener('scroll', onScroll)
      element.removeEventListener('wheel', onWheel)
    }
  }, [scroller, content, follow])

  return { following, toEnd }
}
