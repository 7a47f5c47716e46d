// Lines of a file with their numbers and colours. Many lines show their beginning and the rest on demand.

import { memo, useMemo, useState } from 'react'
import { useTexts } from '../i18n'
import { Button } from '../ui/button'
import { numberWidth } from './diff-table'
import { languageOf, useColouredLines } from './paint'

interface CodeLinesProps {
  path: string
  label: string
  lines: readonly { number: number; text: string }[]
  /** How many lines are shown at first. */
  first?: number
}

export const CodeLines = memo(function CodeLines({ path, label, lines, first = 60 }: CodeLinesProps) {
  const t = useTexts()
  const [all, setAll] = useState(lines.length <= first * 1.3)
  const shown = useMemo(() => (all ? lines : lines.slice(0, first)), [all, lines, first])
  const colours = useColouredLines(useMemo(() => shown.map((line) => line.text), [shown]), languageOf(path))
  return (
    <div className="diff">
      <table className="diff-table code-lines" aria-label={label}>
        <colgroup>
          <col style={numberWidth(lines.at(-1)?.number ?? 0)} />
          <col />
        </colgroup>
        <tbody>
          {shown.map((line, at) => (
            <tr key={at}>
              <td className="diff-number">{line.number}</td>
              <td className="diff-code">
                {colours?.[at]?.map((stretch, place) => (stretch.name ? <span key={place} className={stretch.name}>{stretch.text}</span> : stretch.text)) ?? line.text}
                {line.text === '' && <br />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {!all && (
        <Button kind="quiet" className="diff-more" onClick={() => setAll(true)}>
          {t.showAllLines(lines.length)}
        </Button>
      )}
    </div>
  )
})
