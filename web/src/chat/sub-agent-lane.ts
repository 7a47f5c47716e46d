// The fast lane: a sub-agent's own chunks, folded with the package's own reader into the message they make. Kept by the
// id of the call that started the sub-agent, for as long as the page shows the run.

import { readUIMessageStream, type UIMessageChunk } from 'ai'
import { useCallback, useSyncExternalStore } from 'react'
import type { ChatMessage } from './message-types'

interface LaneData {
  toolCallId: string
  messageId: string
  chunk?: UIMessageChunk
}

interface Lane {
  messageId: string
  feed: ReadableStreamDefaultController<UIMessageChunk> | undefined
  message: ChatMessage | undefined
}

const PREFIX = 'data-sub-agent-'

export class SubAgentLanes {
  #lanes = new Map<string, Lane>()
  #listeners = new Map<string, Set<() => void>>()
  #changed = new Set<string>()
  #frame = 0

  /** Takes a transient data part; everything that is not of the lane is left alone. */
  accept(part: { type: string; data?: unknown }): void {
    if (!part.type.startsWith(PREFIX)) return
    const data = laneData(part.data)
    if (!data) return
    switch (part.type.slice(PREFIX.length)) {
      case 'start':
        this.#open(data)
        return
      case 'chunk': {
        const lane = this.#lanes.get(data.toolCallId) ?? this.#open(data)
        if (data.chunk && lane.messageId === data.messageId) lane.feed?.enqueue(data.chunk)
        return
      }
      case 'end':
        this.#close(this.#lanes.get(data.toolCallId))
        return
      default:
        return
    }
  }

  message(call: string): ChatMessage | undefined {
    return this.#lanes.get(call)?.message
  }

  subscribe(call: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(call) ?? new Set()
    this.#listeners.set(call, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(call)
    }
  }

  /** The connection is gone: what was open will come again from the stored run. */
  clear(): void {
    for (const lane of this.#lanes.values()) this.#close(lane)
    this.#lanes.clear()
  }

  #open(data: LaneData): Lane {
    this.#close(this.#lanes.get(data.toolCallId))
    const lane: Lane = { messageId: data.messageId, feed: undefined, message: undefined }
    const stream = new ReadableStream<UIMessageChunk>({
      start: (controller) => {
        lane.feed = controller
      },
    })
    this.#lanes.set(data.toolCallId, lane)
    void this.#fold(data.toolCallId, lane, stream)
    return lane
  }

  async #fold(call: string, lane: Lane, stream: ReadableStream<UIMessageChunk>): Promise<void> {
    try {
      for await (const message of readUIMessageStream<ChatMessage>({ stream, onError: () => undefined })) {
        lane.message = message
        this.#tell(call)
      }
    } catch {
      // A lane is only a preview; the settled message comes with the call's output.
    }
  }

  #close(lane: Lane | undefined): void {
    const feed = lane?.feed
    if (!lane || !feed) return
    lane.feed = undefined
    feed.close()
  }

  #tell(call: string): void {
    this.#changed.add(call)
    if (this.#frame !== 0) return
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0
      const changed = [...this.#changed]
      this.#changed.clear()
      for (const one of changed) for (const listener of this.#listeners.get(one) ?? []) listener()
    })
  }
}

function laneData(data: unknown): LaneData | undefined {
  if (typeof data !== 'object' || data === null) return undefined
  const { toolCallId, messageId } = data as Partial<LaneData>
  return typeof toolCallId === 'string' && typeof messageId === 'string' ? (data as LaneData) : undefined
}

export function useLane(lanes: SubAgentLanes, call: string): ChatMessage | undefined {
  const subscribe = useCallback((listener: () => void) => lanes.subscribe(call, listener), [lanes, call])
  return useSyncExternalStore(subscribe, () => lanes.message(call))
}
