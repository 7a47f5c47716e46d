import { describe, expect, it } from 'vitest'
import { BlockSplitter, isTame } from './blocks'

const texts = (markdown: string) => new BlockSplitter().blocks(markdown).map((block) => block.text.trim())

describe('cutting Markdown into blocks', () => {
  it('separates paragraphs, headings, tables and fences', () => {
    expect(texts('# A\n\nb\nc\n\n| x |\n|---|\n| 1 |\n\n```js\n1\n\n2\n```\nend')).toEqual(['# A', 'b\nc', '| x |\n|---|\n| 1 |', '1\n\n2', 'end'])
  })

  it('keeps a loose list with what belongs to its items in one block', () => {
    expect(texts('1. one\n\n   more\n\n2. two\n\nafter')).toEqual(['1. one\n\n   more\n\n2. two', 'after'])
  })

  it('knows the language of a fence and whether it is closed', () => {
    const splitter = new BlockSplitter()
    expect(splitter.blocks('```rust\nfn main')).toEqual([{ text: 'fn main', code: { language: 'rust', closed: false } }])
    expect(splitter.blocks('```rust\nfn main() {}\n```')).toEqual([{ text: 'fn main() {}', code: { language: 'rust', closed: true } }])
  })

  it('keeps a formula over several lines whole', () => {
    expect(texts('a\n\n$$\nx\n\ny\n$$\n\nb')).toEqual(['a', '$$\nx\n\ny\n$$', 'b'])
  })

  it('gives the same blocks however the text arrives', () => {
    const whole = '# T\n\ntext *x*\n\n- a\n- b\n\n  c\n\n> q\n> r\n\n~~~\ncode\n\nmore\n~~~\n\n$$\n1\n$$\nlast line\n\n    indented\n\nend'
    const expected = new BlockSplitter().blocks(whole)
    for (const size of [1, 2, 3, 7, 13]) {
      const growing = new BlockSplitter()
      let blocks = growing.blocks('')
      for (let end = size; end < whole.length + size; end += size) blocks = growing.blocks(whole.slice(0, end))
      expect(blocks).toEqual(expected)
    }
  })

  it('never changes a block that is followed by another', () => {
    const whole = 'one\n\ntwo\n\n```\nx\n```\n\n1. a\n\n2. b\n\nthree'
    const growing = new BlockSplitter()
    let before: string[] = []
    for (let end = 1; end <= whole.length; end++) {
      const now = growing.blocks(whole.slice(0, end)).map((block) => block.text)
      for (let at = 0; at < before.length - 2; at++) expect(now[at]).toBe(before[at])
      before = now
    }
  })

  it('starts again when the text is another one', () => {
    const splitter = new BlockSplitter()
    splitter.blocks('a\n\nb')
    expect(splitter.blocks('c').map((block) => block.text)).toEqual(['c'])
  })

  it('leaves what only an attacker writes to be shown as it is', () => {
    expect(isTame('> > a normal quote')).toBe(true)
    expect(isTame('- [ ] **a** [link](x) `code` $x$')).toBe(true)
    expect(isTame('>'.repeat(100_000))).toBe(false)
    expect(isTame('> '.repeat(50))).toBe(false)
    expect(isTame('- '.repeat(50) + 'x')).toBe(false)
    expect(isTame('['.repeat(5000))).toBe(false)
    expect(isTame('x'.repeat(70_000))).toBe(false)
  })
})
