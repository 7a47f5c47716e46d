// What parts of a message need from the conversation around them.

import { createContext, useContext } from 'react'
import type { UserAnswer } from '../api/workspace-types'
import type { Answer } from './routes'
import { SubAgentLanes } from './sub-agent-lane'

export interface ChatSurroundings {
  chatId: string
  lanes: SubAgentLanes
  /** Nothing can be answered or changed here. */
  readOnly: boolean
  answer: (approvalId: string, answer: Answer) => Promise<void>
  /** Answers a request for input. */
  fillIn: (approvalId: string, answer: UserAnswer) => Promise<void>
  openAgent: (chatId: string, name: string) => void
}

const nowhere: ChatSurroundings = {
  chatId: '',
  lanes: new SubAgentLanes(),
  readOnly: true,
  answer: () => Promise.resolve(),
  fillIn: () => Promise.resolve(),
  openAgent: () => undefined,
}

export const ChatContext = createContext<ChatSurroundings>(nowhere)
export const useSurroundings = (): ChatSurroundings => useContext(ChatContext)
