// Markdown to tokens: `marked` with maths, nothing else. What the tokens become is decided in `render.tsx`; no HTML is
// ever made from them.

import { Marked, type Token, type TokensList } from 'marked'
import { isTame } from './blocks'

export interface MathToken {
  type: 'math'
  raw: string
  text: string
  display: boolean
}

const LONGEST_FORMULA = 4000

const inline = /^(?:\$\$([^$\n]{1,4000}?)\$\$|\\\(([^\n]{1,4000}?)\\\)|\\\[([^\n]{1,4000}?)\\\]|\$(?!\s)([^$\n]{1,1000}?[^\s$\\])\$(?![\w$]))/
const single = /^\$([^\s$\\])\$(?![\w$])/
const display = /^ {0,3}(?:\$\$\s*\n([\s\S]+?)\n\s*\$\$|\\\[\s*\n([\s\S]+?)\n\s*\\\])\s*(?:\n|$)/

const marked = new Marked({
  gfm: true,
  breaks: false,
  extensions: [
    {
      name: 'math',
      level: 'block',
      start: (text: string) => text.match(/^ {0,3}(?:\$\$|\\\[)/m)?.index,
      tokenizer(text: string) {
        const found = display.exec(text)
        if (!found) return undefined
        return mathToken(found[0], found[1] ?? found[2] ?? '', true)
      },
    },
    {
      name: 'math',
      level: 'inline',
      start: (text: string) => {
        const at = text.search(/\$|\\[([]/)
        return at === -1 ? undefined : at
      },
      tokenizer(text: string) {
        const found = inline.exec(text) ?? single.exec(text)
        if (!found) return undefined
        const body = found[1] ?? found[2] ?? found[3] ?? found[4] ?? ''
        // Prices are not formulas: "$5 and $6".
        if (found[4] !== undefined && /^\d[\d.,]*\s/.test(body) && !/[\\^_=+]/.test(body)) return undefined
        return mathToken(found[0], body, text.startsWith('$$') || text.startsWith('\\['))
      },
    },
  ],
})

function mathToken(raw: string, text: string, isDisplay: boolean): MathToken | undefined {
  if (text.length > LONGEST_FORMULA) return undefined
  return { type: 'math', raw, text: text.trim(), display: isDisplay }
}

/** `null`: better shown as it is. */
export function tokensOf(text: string): Token[] | null {
  if (!isTame(text)) return null
  try {
    const tokens: TokensList = marked.lexer(text)
    return tokens
  } catch {
    return null
  }
}
