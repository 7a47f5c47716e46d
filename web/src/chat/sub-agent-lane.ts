// The fast lane: a sub-agent's own chunks, folded with the package's own reader into the message they make. Found by the
// message that delegated and the call in it (a call's id is unique in its message only), kept while the page shows the run.

import { readUIMessageStream, type UIMessageChunk } from 'ai'
import { useCallback, useSyncExternalStore } from 'react'
import type { ChatMessage } from './message-types'

interface LaneData {
  toolCallId: string
  messageId: string
  parentMessageId?: string
  chunk?: UIMessageChunk
}

interface Lane {
  call: string
  /** Where it is looked for; known from its start. */
  place: string | undefined
  feed: ReadableStreamDefaultController<UIMessageChunk> | undefined
  message: ChatMessage | undefined
}

const PREFIX = 'data-sub-agent-'

export class SubAgentLanes {
  /** By the sub-agent's own message. */
  #lanes = new Map<string, Lane>()
  #places = new Map<string, Lane>()
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
        const lane = this.#lanes.get(data.messageId) ?? this.#open(data)
        if (!data.chunk) return
        if (!lane.place) this.#put(lane, parentIn(data.chunk))
        lane.feed?.enqueue(data.chunk)
        return
      }
      case 'end':
        this.#close(this.#lanes.get(data.messageId))
        return
      default:
        return
    }
  }

  message(parent: string, call: string): ChatMessage | undefined {
    return this.#places.get(placeOf(parent, call))?.message
  }

  subscribe(parent: string, call: string, listener: () => void): () => void {
    const place = placeOf(parent, call)
    const listeners = this.#listeners.get(place) ?? new Set()
    this.#listeners.set(place, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(place)
    }
  }

  /** The connection is gone: what was open will come again from the stored run. */
  clear(): void {
    for (const lane of this.#lanes.values()) this.#close(lane)
    this.#lanes.clear()
    this.#places.clear()
  }

  #open(data: LaneData): Lane {
    this.#close(this.#lanes.get(data.messageId))
    const lane: Lane = { call: data.toolCallId, place: undefined, feed: undefined, message: undefined }
    const stream = new ReadableStream<UIMessageChunk>({
      start: (controller) => {
        lane.feed = controller
      },
    })
    this.#lanes.set(data.messageId, lane)
    this.#put(lane, data.parentMessageId)
    void this.#fold(lane, stream)
    return lane
  }

  #put(lane: Lane, parent: string | undefined): void {
    if (!parent) return
    lane.place = placeOf(parent, lane.call)
    this.#places.set(lane.place, lane)
  }

  async #fold(lane: Lane, stream: ReadableStream<UIMessageChunk>): Promise<void> {
    try {
      for await (const message of readUIMessageStream<ChatMessage>({ stream, onError: () => undefined })) {
        lane.message = message
        if (lane.place) this.#tell(lane.place)
      }
    } catch {
      // A lane is only a preview; the settled message comes with the call's output.
    } finally {
      // The reader is gone, and with it the stream.
      lane.feed = undefined
    }
  }

  #close(lane: Lane | undefined): void {
    const feed = lane?.feed
    if (!lane || !feed) return
    lane.feed = undefined
    feed.close()
  }

  #tell(place: string): void {
    this.#changed.add(place)
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

const placeOf = (parent: string, call: string): string => `${parent}\n${call}`

/** The first chunk of a message says whose work it is. */
function parentIn(chunk: UIMessageChunk): string | undefined {
  if (chunk.type !== 'start' || typeof chunk.messageMetadata !== 'object' || chunk.messageMetadata === null) return undefined
  const parent: unknown = (chunk.messageMetadata as { parentMessageId?: unknown }).parentMessageId
  return typeof parent === 'string' ? parent : undefined
}

export function useLane(lanes: SubAgentLanes, parent: string, call: string): ChatMessage | undefined {
  const subscribe = useCallback((listener: () => void) => lanes.subscribe(parent, call, listener), [lanes, parent, call])
  return useSyncExternalStore(subscribe, () => lanes.message(parent, call))
}
