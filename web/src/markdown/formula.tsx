// A formula: its source until KaTeX has arrived, then drawn by it into its own element.

import { memo, useEffect, useRef } from 'react'

export const Formula = memo(function Formula({ text, display }: { text: string; display: boolean }) {
  const place = useRef<HTMLSpanElement>(null)
  useEffect(() => {
    let wanted = true
    void import('./katex').then(
      ({ draw }) => {
        if (wanted && place.current) draw(text, place.current, display)
      },
      () => undefined,
    )
    return () => {
      wanted = false
    }
  }, [text, display])
  return (
    <span className={display ? 'formula formula-display' : 'formula'} key={text} ref={place}>
      {text}
    </span>
  )
})
