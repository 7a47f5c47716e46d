// The commands of the conversation on the screen: fetched when there are any or somebody looks for them, and which one
// is shown beside the chat.

import { useMemo, useState } from 'react'
import { setPreferences, usePreferences } from '../app/preferences'
import type { ChatMessage } from '../chat/message-types'
import type { SubAgentLanes } from '../chat/sub-agent-lane'
import type { JobsNearby } from './jobs-context'
import { countCommands, useJobs, type Jobs } from './use-jobs'

interface ChatState {
  id: string
  messages: readonly ChatMessage[]
  lanes: SubAgentLanes
  /** Differs when the lanes may have moved. */
  beat: number
  busy: boolean
  /** Without a panel beside it. */
  readOnly: boolean
}

export function useChatJobs({ id, messages, lanes, beat, busy, readOnly }: ChatState): { jobs: Jobs; nearby: JobsNearby } {
  const { panel, panelTab } = usePreferences()
  // `beat`: sub-agents run commands without the messages.
  // oxlint-disable-next-line react/exhaustive-deps
  const { calls, settled } = useMemo(() => countCommands(messages, lanes), [messages, lanes, beat])
  const looking = panel && panelTab === 'commands' && !readOnly
  const jobs = useJobs(id, messages.length > 0 && (calls > 0 || looking), `${calls} ${settled} ${busy}`, busy && calls > settled)
  const [shown, setShown] = useState<string>()
  const nearby = useMemo<JobsNearby>(() => {
    const show = (job: string | undefined) => {
      setShown(job)
      if (job !== undefined) setPreferences({ panel: true, panelTab: 'commands' })
    }
    return { list: jobs.list ?? [], shown, show: readOnly ? undefined : show }
  }, [jobs.list, shown, readOnly])
  // A chat without messages is not stored yet.
  return { jobs: messages.length === 0 ? { ...jobs, list: [] } : jobs, nearby }
}
