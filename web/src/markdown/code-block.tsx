// A block of code: shown at once, coloured when it is whole and the highlighter has arrived. HTML and SVG can be looked
// at as what they make.

import { memo, useEffect, useState, type ReactNode } from 'react'
import { useTexts } from '../i18n'
import { Button } from '../ui/button'
import { CopyButton } from '../ui/copy-button'
import { PreviewFrame, previewKind } from '../ui/preview-frame'
import type { CodeNode } from './highlight'

const LARGEST_COLOURED = 40_000

export const CodeBlock = memo(function CodeBlock({ code, language, closed }: { code: string; language: string; closed: boolean }) {
  const t = useTexts()
  const coloured = useHighlight(code, language, closed)
  const kind = closed ? previewKind(language) : undefined
  const [preview, setPreview] = useState(false)
  return (
    <figure className="code">
      <figcaption>
        <span>{language || 'text'}</span>
        <span className="code-actions">
          {kind && (
            <Button kind="quiet" aria-pressed={preview} onClick={() => setPreview(!preview)}>
              {preview ? t.showCode : t.preview}
            </Button>
          )}
          <CopyButton text={code} />
        </span>
      </figcaption>
      {kind && preview ? (
        <PreviewFrame kind={kind} text={code} name={language} />
      ) : (
        <pre tabIndex={0}>
          <code>{coloured ?? code}</code>
        </pre>
      )}
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
