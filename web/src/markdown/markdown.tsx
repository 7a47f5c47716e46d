// Markdown that may still be growing. Settled blocks are drawn once; the last one follows the stream.

import { memo, useEffect, useMemo, useRef, useState } from 'react'
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
  const count = Math.ceil(blocks.length / GROUP)
  const drawn = useDrawn(count)
  if (count <= 1) {
    return (
      <div className="md">
        <Group blocks={blocks} growing={streaming} />
      </div>
    )
  }
  const groups = Array.from({ length: count }, (_, at) => blocks.slice(at * GROUP, (at + 1) * GROUP))
  return (
    <div className="md">
      {groups.map((group, at) => (
        <div key={at} className="md-group">
          {at >= count - drawn ? (
            <Group blocks={group} growing={streaming && at === count - 1} />
          ) : (
            <div className="md-plain">{group.map((block) => block.text).join('\n\n')}</div>
          )}
        </div>
      ))}
    </div>
  )
})

/** A very long text is drawn from its end, a few groups with each frame; the rest is shown as written until then. */
function useDrawn(count: number): number {
  const [drawn, setDrawn] = useState(AT_ONCE)
  useEffect(() => {
    if (drawn >= count) return
    const frame = requestAnimationFrame(() => setDrawn(drawn + AT_ONCE))
    return () => cancelAnimationFrame(frame)
  }, [drawn, count])
  return drawn
}
const AT_ONCE = 2

/** So many blocks are compared, and left out of the layout when they are out of sight, as one. */
const GROUP = 40

const Group = memo(
  function Group({ blocks, growing }: { blocks: readonly Block[]; growing: boolean }) {
    return blocks.map((block, at) => <BlockView key={at} text={block.text} code={block.code} last={growing && at === blocks.length - 1} />)
  },
  // The splitter hands out the same object for a settled block.
  (before, after) => before.growing === after.growing && before.blocks.length === after.blocks.length && before.blocks.every((block, at) => block === after.blocks[at]),
)

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
