import { cleanup, render } from '@testing-library/react'
import { afterEach, describe, expect, it } from 'vitest'
import { AnsiLines } from './ansi-lines'
import { Lines, linesOf, plainText } from './lines'
import { paintOf } from './paint'
import { afterSgr, indexed, PLAIN, type Style } from './style'

afterEach(cleanup)

const E = '\x1b'
const texts = (output: string): string[] => linesOf(output).lines.map((line) => line.spans.map((span) => span.text).join(''))
const spans = (output: string) => linesOf(output).lines.flatMap((line) => line.spans.map(({ text, style }) => [text, style]))

/** A small generator, so that a failing case can be run again by its seed. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

describe('terminal output as lines', () => {
  it('gives colours to what stands between the sequences', () => {
    expect(spans(`a${E}[31mred${E}[0m b ${E}[1;4;38;5;196mx${E}[m`)).toEqual([
      ['a', {}],
      ['red', { fg: { named: 1 } }],
      [' b ', {}],
      ['x', { bold: true, underline: true, fg: { rgb: 0xff0000 } }],
    ])
  })

  it('overwrites after a carriage return and a backspace, as a progress bar does', () => {
    expect(texts('  1%\r 50%\r100%\ndone')).toEqual(['100%', 'done'])
    expect(texts('long text\rshort')).toEqual(['shorttext'])
    expect(texts(`long text\rshort${E}[K\n`)).toEqual(['short'])
    expect(texts(`abc${E}[2K\rx`)).toEqual(['x'])
    expect(texts('|\b/\b-\b\\')).toEqual(['\\'])
    expect(texts('\b\b\bx')).toEqual(['x'])
    expect(texts(`abcdef${E}[3D${E}[31mX`)).toEqual(['abcXef'])
    expect(texts(`ab${E}[6Gx`)).toEqual(['ab   x'])
    expect(texts('one\r\ntwo\r\n')).toEqual(['one', 'two'])
    expect(spans(`${E}[32mgreen\r${E}[31mr`)).toEqual([['r', { fg: { named: 1 } }], ['reen', { fg: { named: 2 } }]])
  })

  it('drops titles, links, charsets, private modes and cursor movement', () => {
    expect(texts(`${E}]0;a title\x07a${E}[?25l${E}(Bb${E}[2Jc${E}[Ad${E}=e${E}]8;;http://x/${E}\\link${E}]8;;${E}\\${E}Pq#0${E}\\f\x07\x00\x7f\x9b`)).toEqual(['abcdelinkf'])
  })

  it('shows what follows a broken sequence', () => {
    expect(texts(`${E}[31\nnext`)).toEqual(['', 'next'])
    expect(texts(`${E}中文`)).toEqual(['中文'])
    expect(texts(`${E}[3中文 😀`)).toEqual(['中文 😀'])
    expect(texts(`${E}]0;no end\nnext`)).toEqual(['', 'next'])
    expect(texts(`${E}P${'x'.repeat(70_000)}tail`)[0]?.endsWith('tail')).toBe(true)
    expect(texts(`${E}[${'1;'.repeat(40_000)}end`)[0]?.endsWith('end')).toBe(true)
    expect(texts(`${E}[99999999999999999999Cx`)[0]).toMatch(/^ +x$/)
  })

  it('keeps the newest lines within its limits, and breaks a line without an end', () => {
    const lines = new Lines({ lines: 10, characters: 1000, columns: 50 })
    for (let at = 0; at < 1000; at++) lines.add(`line ${at}\n`)
    const { lines: kept, dropped } = lines.kept()
    expect(kept.length).toBeLessThanOrEqual(11)
    expect(dropped + kept.length).toBe(1000)
    expect(kept.at(-1)?.number).toBe(999)
    const long = new Lines({ lines: 1000, characters: 100_000, columns: 50 })
    long.add('x'.repeat(120))
    expect(long.kept().lines.map((line) => [line.spans[0]?.text.length, line.goesOn])).toEqual([[50, true], [50, true], [20, false]])
    expect(plainText(long.kept().lines)).toBe(`${'x'.repeat(120)}\n`)
    const bounded = new Lines({ lines: 1000, characters: 500, columns: 50 })
    bounded.add('y'.repeat(100_000))
    expect(plainText(bounded.kept().lines).length).toBeLessThan(700)
  })

  it('keeps the identity of lines that did not change', () => {
    const lines = new Lines()
    lines.add('one\ntwo')
    const before = lines.kept().lines
    lines.add(' more\n')
    const now = lines.kept().lines
    expect(now[0]).toBe(before[0])
    expect(now[1]).not.toBe(before[1])
  })
})

describe('whatever is written', () => {
  const letters = [...'abc xyz09<>&\'"é中文😀\t', '‮', '\ud800', '​']

  it('text without control characters is unchanged (500 random texts)', () => {
    for (let seed = 1; seed <= 500; seed++) {
      const next = random(seed)
      const text = Array.from({ length: next(200) }, () => (next(12) === 0 ? '\n' : letters[next(letters.length)])).join('')
      const whole = text === '' || text.endsWith('\n') ? text : `${text}\n`
      expect(plainText(linesOf(text).lines), `seed ${seed}`).toBe(whole)
    }
  })

  it('never fails, never shows an escape, and reads the same in pieces (2000 random outputs)', () => {
    const odd = [E, '[', ']', 'm', 'K', 'G', 'C', 'D', ';', ':', '?', '38', '48', '2', '5', '999999999', '\r', '\b', '\n', '\t', '\x07', '\x18', '\x9c', '\x9b', '\x00', '\x7f', 'P', '\\', `${E}[`, `${E}]`, ...letters]
    for (let seed = 1; seed <= 2000; seed++) {
      const next = random(seed)
      const parts = Array.from({ length: next(80) }, () => odd[next(odd.length)] ?? '')
      const whole = linesOf(parts.join(''))
      const pieces = new Lines()
      for (const part of parts) pieces.add(part)
      expect(plainText(pieces.kept().lines), `seed ${seed}`).toBe(plainText(whole.lines))
      expect(plainText(whole.lines), `seed ${seed}`).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/)
      for (const line of whole.lines) for (const span of line.spans) paintOf(span.style)
    }
  })

  it('is text, never markup', () => {
    const { container } = render(<AnsiLines lines={linesOf(`<img src=x onerror=alert(1)>${E}[31m<b>bold</b>`).lines} />)
    expect(container.querySelector('img, b')).toBeNull()
    expect(container.textContent).toBe('<img src=x onerror=alert(1)><b>bold</b>\n')
  })

  it('is read quickly: a megabyte with colours in less than a second', () => {
    const line = `${E}[32m   Compiling${E}[0m something v1.2.3 (a path of some length)\r\n`
    const begin = performance.now()
    linesOf(line.repeat(Math.ceil(1_000_000 / line.length)))
    expect(performance.now() - begin).toBeLessThan(1000)
  })
})

describe('colours', () => {
  const after = (...sequences: string[]): Style => sequences.reduce(afterSgr, PLAIN)

  it('are read in every form', () => {
    expect(after('38;2;1;2;3')).toEqual({ fg: { rgb: 0x010203 } })
    expect(after('38:2::1:2:3')).toEqual({ fg: { rgb: 0x010203 } })
    expect(after('48:5:17')).toEqual({ bg: { rgb: 0x00005f } })
    expect(after('93;104')).toEqual({ fg: { named: 11 }, bg: { named: 12 } })
    expect(after('1;2;3;4;7;9')).toEqual({ bold: true, dim: true, italic: true, underline: true, inverse: true, strike: true })
    expect(after('1;2;31', '22;39')).toBe(PLAIN)
    expect(after('4', '4:0')).toBe(PLAIN)
    expect(after('31', '')).toBe(PLAIN)
    expect(after('38;5;1;1')).toEqual({ fg: { named: 1 }, bold: true })
    expect(after('38;2;999;0;0')).toEqual({})
    expect(after('38;5;300')).toEqual({})
  })

  it('of the table are the known ones', () => {
    expect([7, 16, 231, 232, 255].map(indexed)).toEqual([{ named: 7 }, { rgb: 0 }, { rgb: 0xffffff }, { rgb: 0x080808 }, { rgb: 0xeeeeee }])
    expect([-1, 256, 1.5, Number.NaN].map(indexed)).toEqual([undefined, undefined, undefined, undefined])
  })

  it('can always be read on a background of the program', () => {
    expect(paintOf({ fg: { named: 15 }, bg: { named: 1 } }).style).toEqual({ backgroundColor: '#b3261e', color: '#ffffff' })
    expect(paintOf({ fg: { named: 7 }, bg: { named: 15 } }).style?.color).toBe('#16151a')
    expect(paintOf({ inverse: true })).toEqual({ className: 'ansi-inverse', style: undefined })
    expect(paintOf({ fg: { named: 2 } })).toEqual({ className: 'ansi-2', style: undefined })
    expect(paintOf({ fg: { rgb: 0xffff00 } })).toEqual({ className: 'ansi-rgb', style: { '--ansi-rgb': '#ffff00' } })
    expect(paintOf({ fg: { named: 2 }, inverse: true }).style?.backgroundColor).toBe('#2e7d32')
    expect(paintOf(PLAIN)).toEqual({ className: undefined, style: undefined })
  })
})
