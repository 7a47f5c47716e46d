// The commands of the chat for every card in it, and which one is shown beside the chat.

import { createContext, useContext } from 'react'
import type { SeenJob } from './use-jobs'

export interface JobsNearby {
  list: readonly SeenJob[]
  /** The command whose output is shown. */
  shown: string | undefined
  /** Absent where there is no panel. */
  show: ((id: string | undefined) => void) | undefined
}

export const JobsContext = createContext<JobsNearby>({ list: [], shown: undefined, show: undefined })
export const useJobsNearby = (): JobsNearby => useContext(JobsContext)
