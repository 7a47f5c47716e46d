// Colours single lines of code with the highlighter that blocks of code use.

import { useEffect, useState } from 'react'
import type { CodeNode } from '../markdown/highlight'
import type { Segment } from './words'

/** A stretch of one line in one colour. */
export interface Stretch {
  text: string
  /** Class names of the highlighter; empty for plain text. */
  name: string
}

const LARGEST_COLOURED = 60_000

/** The language of a file by its name, as the highlighter calls it. */
export function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  if (name === 'dockerfile' || name === 'makefile') return name
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(dot + 1) : ''
}

/** Each line in its colours, by index; nothing until the highlighter is loaded or when the text is large. */
export function useColouredLines(lines: readonly string[], language: string): readonly Stretch[][] | undefined {
  const text = lines.join('\n')
  const [done, setDone] = useState<{ text: string; lines: Stretch[][] }>()
  useEffect(() => {
    if (!language || text.length > LARGEST_COLOURED) return
    let wanted = true
    void import('../markdown/highlight').then(
      ({ highlight }) => {
        const nodes = highlight(text, language)
        if (wanted && nodes) setDone({ text, lines: splitLines(nodes) })
      },
      () => undefined,
    )
    return () => {
      wanted = false
    }
  }, [text, language])
  return done?.text === text ? done.lines : undefined
}

export function splitLines(nodes: readonly CodeNode[]): Stretch[][] {
  const lines: Stretch[][] = [[]]
  const add = (node: CodeNode, name: string) => {
    if (typeof node !== 'string') {
      for (const child of node.children) add(child, node.name || name)
      return
    }
    node.split('\n').forEach((text, at) => {
      if (at > 0) lines.push([])
      if (text !== '') lines.at(-1)?.push({ text, name })
    })
  }
  for (const node of nodes) add(node, '')
  return lines
}

/** Cuts the colours of a line where its changed words begin and end. */
export function mix(text: string, colours: readonly Stretch[] | undefined, words: readonly Segment[] | undefined): { text: string; name: string; changed: boolean }[] {
  const painted = colours ?? [{ text, name: '' }]
  if (!words) return painted.map((one) => ({ ...one, changed: false }))
  const out: { text: string; name: string; changed: boolean }[] = []
  let place = 0
  let from = 0
  for (const word of words) {
    let left = word.text.length
    while (left > 0) {
      const stretch = painted[place]
      if (!stretch) break
      const taken = stretch.text.slice(from, from + left)
      out.push({ text: taken, name: stretch.name, changed: word.changed })
      left -= taken.length
      from += taken.length
      if (from >= stretch.text.length) {
        place++
        from = 0
      }
    }
  }
  return out
}
