// What a chat changed in the files of the workspace: the routes.

import { call, path } from '../api/client'
import type { ChangeList, FileDiff, RevertRequest, RevertResult } from '../api/workspace-types'

export const fetchChanges = (chatId: string, signal: AbortSignal): Promise<ChangeList> => call<ChangeList>('GET', path`/api/chat/${chatId}/changes`, { signal })

/** Without a message: over the whole chat. */
export function fetchDiff(chatId: string, file: string, messageId: string | undefined, signal: AbortSignal): Promise<FileDiff> {
  const query = new URLSearchParams({ path: file, ...(messageId === undefined ? {} : { messageId }) })
  return call<FileDiff>('GET', `${path`/api/chat/${chatId}/changes/diff`}?${query}`, { signal })
}

export const revertChanges = (chatId: string, request: RevertRequest): Promise<RevertResult> => call<RevertResult>('POST', path`/api/chat/${chatId}/changes/revert`, { body: request })
