// Markdown that may still be growing. Settled blocks are drawn once; the last one follows the stream.

import { memo, useMemo, useRef } from 'react'
import { BlockSplitter, type Block } from './blocks'
import { CodeBlock } from './code-block'
import { tokensOf } from './lexer'
import { renderBlocks } from './render'
import { useEasedText } from './use-eased-text'
import '../styles/markdown.css'

export const Markdown = memo(function Markdown({ text, streaming = false }: { text: string; streaming?: boolean }) {
  const splitter = useRef<BlockSplitter>(null)
  splitter.current ??= new BlockSplitter()
  const eased = useEasedText(text, streaming)
  const blocks = useMemo(() => splitter.current?.blocks(eased) ?? [], [eased])
  return (
    <div className={blocks.length > 60 ? 'md md-long' : 'md'}>
      {blocks.map((block, at) => (
        <BlockView key={at} text={block.text} code={block.code} last={streaming && at === blocks.length - 1} />
      ))}
    </div>
  )
})

const BlockView = memo(
  function BlockView({ text, code, last }: { text: string; code: Block['code']; last: boolean }) {
    const tokens = useMemo(() => (code ? null : tokensOf(text)), [code, text])
    if (code) {
      return (
        <div className="md-block">
          <CodeBlock code={text} language={code.language} closed={code.closed || !last} />
        </div>
      )
    }
    if (!tokens) return <div className="md-block md-plain">{text}</div>
    return <div className="md-block">{renderBlocks(tokens)}</div>
  },
  (before, after) =>
    before.text === after.text &&
    before.last === after.last &&
    before.code?.language === after.code?.language &&
    before.code?.closed === after.code?.closed,
)
