// The output of a call as far as the call tells it: live while it runs, the first lines when it is done, the rest on
// demand.

import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import { AnsiLines } from '../../ansi/ansi-lines'
import { linesOf, plainText } from '../../ansi/lines'
import type { CommandReport } from '../../api/workspace-types'
import { formatSize, useTexts } from '../../i18n'
import { Button } from '../../ui/button'
import { CopyButton } from '../../ui/copy-button'

interface CommandOutputProps {
  report: CommandReport
  running: boolean
  label: string
}

/** A finished command shows this much until somebody wants more. */
const FIRST = 12
/** Two lines are not worth a button. */
const SLACK = 2

export function CommandOutput({ report, running, label }: CommandOutputProps) {
  const t = useTexts()
  const [all, setAll] = useState(false)
  const box = useRef<HTMLPreElement>(null)
  const { lines, dropped } = useMemo(() => linesOf(report.output), [report.output])
  const long = lines.length > FIRST + SLACK
  const shown = running || all || !long ? lines : lines.slice(0, FIRST)
  // The newest line of a running command is the one that is looked at.
  useLayoutEffect(() => {
    if (running && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [running, lines])
  if (lines.length === 0) return <p className="output-note">{running ? t.outputNoneYet : t.outputNone}</p>
  return (
    <div className="output-frame">
      {dropped > 0 && <p className="output-note">{t.outputEarlier(dropped)}</p>}
      <pre ref={box} className={running ? 'output output-live' : 'output'} role="group" aria-label={label} tabIndex={0}>
        <AnsiLines lines={shown} />
      </pre>
      <span className="output-copy">
        <CopyButton text={() => plainText(lines)} />
      </span>
      {!running && long && (
        <Button kind="quiet" className="output-more" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? t.showLess : t.showMoreLines(lines.length - FIRST)}
        </Button>
      )}
      <LeftOut report={report} />
    </div>
  )
}

function LeftOut({ report: { leftOutBytes, artifact } }: { report: CommandReport }) {
  const t = useTexts()
  if (!leftOutBytes && !artifact) return null
  return (
    <p className="output-note">
      {leftOutBytes ? t.outputLeftOut(formatSize(leftOutBytes)) : null}{' '}
      {artifact && (
        <a className="link" href={artifact.url} download={artifact.name}>
          {t.outputWhole(formatSize(artifact.bytes))}
        </a>
      )}
    </p>
  )
}
