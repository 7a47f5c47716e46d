// Lines of terminal output with their colours, as text in the page: nothing in them is ever read as markup.

import { memo } from 'react'
import type { Line } from './lines'
import { paintOf } from './paint'

export function AnsiLines({ lines }: { lines: readonly Line[] }) {
  return lines.map((line) => <AnsiLine key={line.number} line={line} />)
}

const AnsiLine = memo(
  function AnsiLine({ line }: { line: Line }) {
    return (
      <>
        {line.spans.map((span, at) => {
          const { className, style } = paintOf(span.style)
          return className || style ? (
            <span key={at} className={className} style={style}>
              {span.text}
            </span>
          ) : (
            span.text
          )
        })}
        {line.goesOn ? '' : '\n'}
      </>
    )
  },
  (before, now) => before.line === now.line,
)
