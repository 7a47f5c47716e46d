// The tools of the server, asked for once.

import { useEffect, useState } from 'react'
import { call } from '../api/client'
import type { ToolSpec } from '../api/types.gen'

let asked: Promise<readonly ToolSpec[]> | undefined

export function useTools(): readonly ToolSpec[] {
  const [tools, setTools] = useState<readonly ToolSpec[]>([])
  useEffect(() => {
    let wanted = true
    asked ??= call<{ tools: ToolSpec[] }>('GET', '/api/tools').then(
      (list) => list.tools,
      () => {
        asked = undefined
        return []
      },
    )
    void asked.then((list) => wanted && setTools(list))
    return () => {
      wanted = false
    }
  }, [])
  return tools
}
