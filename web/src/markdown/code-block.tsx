// A block of code: shown at once, coloured when it is whole and the highlighter has arrived.

import { memo, useEffect, useState, type ReactNode } from 'react'
import { CopyButton } from '../ui/copy-button'
import type { CodeNode } from './highlight'

const LARGEST_COLOURED = 40_000

export const CodeBlock = memo(function CodeBlock({ code, language, closed }: { code: string; language: string; closed: boolean }) {
  const coloured = useHighlight(code, language, closed)
  return (
    <figure className="code">
      <figcaption>
        <span>{language || 'text'}</span>
        <CopyButton text={code} />
      </figcaption>
      <pre tabIndex={0}>
        <code>{coloured ?? code}</code>
      </pre>
    </figure>
  )
})

function useHighlight(code: string, language: string, closed: boolean): ReactNode {
  const [done, setDone] = useState<{ code: string; nodes: CodeNode[] }>()
  useEffect(() => {
    if (!closed || !language || code.length > LARGEST_COLOURED) return
    let wanted = true
    void import('./highlight').then(
      ({ highlight }) => {
        const nodes = highlight(code, language)
        if (wanted && nodes) setDone({ code, nodes })
      },
      () => undefined,
    )
    return () => {
      wanted = false
    }
  }, [code, language, closed])
  return done?.code === code ? done.nodes.map(paint) : undefined
}

function paint(node: CodeNode, at: number): ReactNode {
  if (typeof node === 'string') return node
  return (
    <span key={at} className={node.name}>
      {node.children.map(paint)}
    </span>
  )
}
