// The output of one command as lines, followed live and kept within bounds.

import { useEffect, useRef, useState } from 'react'
import { Lines, type Kept } from '../ansi/lines'
import { isMissing } from '../api/problem'
import type { Job } from '../api/workspace-types'
import { followJob } from './follow-job'

export interface Output extends Kept {
  loading: boolean
  /** Bytes at the beginning that the server no longer keeps. */
  gap: number
  lost: boolean
  gone: boolean
  problem: string | undefined
}

const NOTHING: Output = { lines: [], dropped: 0, loading: true, gap: 0, lost: false, gone: false, problem: undefined }

/** Waits this long for more before it draws again. */
const DRAW_PAUSE = 50

export function useOutput(id: string, onEnded: (job: Job) => void): Output {
  const [output, setOutput] = useState<Output>(NOTHING)
  const ended = useRef(onEnded)
  ended.current = onEnded
  useEffect(() => {
    const gone = new AbortController()
    const lines = new Lines()
    let timer: ReturnType<typeof setTimeout> | undefined
    const change = (what: Partial<Output>) => setOutput((before) => ({ ...before, ...what }))
    const draw = () => {
      clearTimeout(timer)
      timer = undefined
      change({ ...lines.kept(), loading: false })
    }
    setOutput(NOTHING)
    void followJob(
      id,
      {
        output: (text) => {
          lines.add(text)
          timer ??= setTimeout(draw, DRAW_PAUSE)
        },
        gap: (bytes) => setOutput((before) => ({ ...before, gap: before.gap + bytes })),
        connection: (state) => change({ lost: state === 'lost' }),
        ended: (job) => {
          draw()
          change({ lost: false })
          ended.current(job)
        },
        failed: (error) => change({ loading: false, lost: false, gone: isMissing(error), problem: error.message }),
      },
      gone.signal,
    )
    return () => {
      gone.abort()
      clearTimeout(timer)
    }
  }, [id])
  return output
}
