// The changed lines of one file, inline or side by side. Long lines wrap, so that nothing is hidden at the edge; a long
// diff shows its beginning and the rest on demand.

import { Fragment, memo, useMemo, useState, type ReactNode } from 'react'
import { useTexts } from '../i18n'
import { Button } from '../ui/button'
import { parseHunks, type Hunk } from './hunks'
import { languageOf, mix, useColouredLines, type Stretch } from './paint'
import { inlineRows, splitRows, type ShownLine } from './rows'

export type DiffLayout = 'inline' | 'split'

interface DiffTableProps {
  path: string
  diff: string
  layout: DiffLayout
  /** How many lines are shown at first. */
  first: number
}

/** More lines than this make the page slow; they come in steps. */
const STEP = 2000

export const DiffTable = memo(function DiffTable({ path, diff, layout, first }: DiffTableProps) {
  const t = useTexts()
  const hunks = useMemo(() => parseHunks(diff), [diff])
  const total = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0)
  const [limit, setLimit] = useState(total > first * 1.3 ? first : Infinity)
  const shown = Math.min(total, limit)
  const visible = useMemo(() => firstLines(hunks, shown), [hunks, shown])
  const numbers = numberWidth(Math.max(0, ...hunks.map((hunk) => Math.max(hunk.lines.at(-1)?.old ?? 0, hunk.lines.at(-1)?.new ?? 0))))
  return (
    <div className="diff">
      <table className={`diff-table diff-${layout}`} aria-label={t.diffOf(path)}>
        <colgroup>
          <col style={numbers} />
          {layout === 'split' && <col />}
          <col style={numbers} />
          <col />
        </colgroup>
        <tbody>
          {visible.map((hunk, at) => (
            <Fragment key={at}>
              <HunkHead hunk={hunk} layout={layout} gap={at > 0 || (hunk.placed && (hunk.lines[0]?.old ?? hunk.lines[0]?.new ?? 1) > 1)} />
              <HunkRows hunk={hunk} layout={layout} language={languageOf(path)} />
            </Fragment>
          ))}
        </tbody>
      </table>
      {shown < total && (
        <Button kind="quiet" className="diff-more" onClick={() => setLimit(total - shown > STEP * 1.5 ? shown + STEP : Infinity)}>
          {total - shown > STEP * 1.5 ? t.showMoreLines(STEP) : t.showAllLines(total)}
        </Button>
      )}
    </div>
  )
})

/** The hunks up to so many lines; a hunk that is whole stays the same object. */
function firstLines(hunks: readonly Hunk[], limit: number): Hunk[] {
  const out: Hunk[] = []
  let left = limit
  for (const hunk of hunks) {
    if (left <= 0) break
    out.push(hunk.lines.length > left ? { ...hunk, lines: hunk.lines.slice(0, left) } : hunk)
    left -= hunk.lines.length
  }
  return out
}

/** Room for the numbers of lines up to the largest. */
export const numberWidth = (largest: number) => ({ width: `calc(${Math.max(2, String(largest).length)}ch + 12px)` })

/** Says that lines are left out, and where the diff goes on. */
function HunkHead({ hunk, layout, gap }: { hunk: Hunk; layout: DiffLayout; gap: boolean }) {
  const first = hunk.lines[0]
  if (!gap || !first) return null
  return (
    <tr className="diff-gap">
      <td colSpan={layout === 'split' ? 4 : 3}>
        ⋯ {hunk.heading}
      </td>
    </tr>
  )
}

function HunkRows({ hunk, layout, language }: { hunk: Hunk; layout: DiffLayout; language: string }) {
  const before = useMemo(() => hunk.lines.filter((line) => line.kind !== 'add'), [hunk])
  const after = useMemo(() => hunk.lines.filter((line) => line.kind !== 'remove'), [hunk])
  const oldColours = useColouredLines(useMemo(() => before.map((line) => line.text), [before]), language)
  const newColours = useColouredLines(useMemo(() => after.map((line) => line.text), [after]), language)
  const firstOld = before[0]?.old ?? 0
  const firstNew = after[0]?.new ?? 0
  const colours = (line: ShownLine): Stretch[] | undefined =>
    line.kind === 'remove' ? oldColours?.[(line.old ?? 0) - firstOld] : newColours?.[(line.new ?? 0) - firstNew]
  const number = (line: number | undefined) => (hunk.placed ? line : undefined)
  const inline = useMemo(() => (layout === 'inline' ? inlineRows(hunk) : []), [hunk, layout])
  const split = useMemo(() => (layout === 'split' ? splitRows(hunk) : []), [hunk, layout])
  if (layout === 'inline') {
    return inline.map((line, at) => (
      <tr key={at} className={`diff-${line.kind}`}>
        <td className="diff-number">{number(line.old)}</td>
        <td className="diff-number">{number(line.new)}</td>
        <Code line={line} colours={colours(line)} />
      </tr>
    ))
  }
  return split.map(({ left, right }, at) => (
    <tr key={at}>
      <td className={`diff-number diff-${left?.kind ?? 'none'}`}>{number(left?.old)}</td>
      <Code line={left} colours={left && colours(left)} className={`diff-${left?.kind ?? 'none'}`} />
      <td className={`diff-number diff-${right?.kind ?? 'none'}`}>{number(right?.new)}</td>
      <Code line={right} colours={right && colours(right)} className={`diff-${right?.kind ?? 'none'}`} />
    </tr>
  ))
}

const SIGNS = { same: ' ', add: '+', remove: '−' } as const

/** Without a line: the other side has one there. */
function Code({ line, colours, className = '' }: { line: ShownLine | undefined; colours: Stretch[] | undefined; className?: string }) {
  const t = useTexts()
  if (!line) return <td className={className}>{null}</td>
  return (
    <td className={`diff-code ${className}`} data-sign={SIGNS[line.kind]}>
      {mix(line.text, colours, line.words).map(paint)}
      {line.noNewline && <span className="diff-end" title={t.noFinalNewline}> ⊘<span className="sr-only">{t.noFinalNewline}</span></span>}
      {line.text === '' && <br />}
    </td>
  )
}

function paint({ text, name, changed }: { text: string; name: string; changed: boolean }, at: number): ReactNode {
  // A carriage return would not be seen otherwise.
  const seen = text.endsWith('\r') ? `${text.slice(0, -1)}␍` : text
  if (!changed) return name ? <span key={at} className={name}>{seen}</span> : seen
  return <mark key={at} className={name}>{seen}</mark>
}
