import { cleanup, render } from '@testing-library/react'
import { Tooltip } from 'radix-ui'
import { afterEach, describe, expect, it } from 'vitest'
import { Markdown } from './markdown'

afterEach(cleanup)

const html = (text: string) =>
  render(
    <Tooltip.Provider>
      <Markdown text={text} />
    </Tooltip.Provider>,
  ).container

describe('drawing Markdown', () => {
  it('makes elements of the usual things', () => {
    const page = html('# T\n\n**b** *i* ~~d~~ `c` [l](https://example.com)\n\n1. x\n2. y\n\n> q\n\n| a | b |\n|:-|-:|\n| 1 | 2 |')
    expect(page.querySelector('h3')?.textContent).toBe('T')
    expect([...page.querySelectorAll('strong, em, del, code')].map((one) => one.textContent)).toEqual(['b', 'i', 'd', 'c'])
    expect(page.querySelector('a')?.getAttribute('href')).toBe('https://example.com')
    expect(page.querySelector('a')?.getAttribute('rel')).toContain('noopener')
    expect(page.querySelectorAll('ol > li').length).toBe(2)
    expect(page.querySelector('td.md-right')?.textContent).toBe('2')
  })

  it('shows HTML as text and runs none of it', () => {
    const page = html('<img src=x onerror="alert(1)"> <script>alert(1)</script>\n\n<iframe src="https://evil.example"></iframe>\n\n<svg onload=alert(1)>')
    expect(page.querySelectorAll('img, script, iframe, svg').length).toBe(0)
    expect(page.textContent).toContain('<script>alert(1)</script>')
  })

  it('links nowhere but to web and mail addresses', () => {
    const page = html('[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](vbscript:x) [e](file:///etc/passwd) [f](//evil.example) <javascript:alert(1)> [g](mailto:a@example.com) [h]( java&#10;script:alert(1) )')
    expect([...page.querySelectorAll('a')].map((link) => link.getAttribute('href'))).toEqual(['mailto:a@example.com'])
  })

  it('loads no picture from elsewhere', () => {
    const page = html('![x](https://evil.example/track.png) ![y](data:image/png;base64,iVBORw0KGgo=) ![z](data:image/svg+xml;base64,PHN2Zz4=) ![w](/api/sessions)')
    expect([...page.querySelectorAll('img')].map((image) => image.getAttribute('src'))).toEqual(['data:image/png;base64,iVBORw0KGgo='])
    expect(page.querySelector('a')?.getAttribute('href')).toBe('https://evil.example/track.png')
  })

  it('does not take prices for formulas', () => {
    expect(html('It costs $5 and then $6 more.').querySelector('.formula')).toBeNull()
    expect(html('Euler: $e^{i\\pi}+1=0$.').querySelector('.formula')?.textContent).toBe('e^{i\\pi}+1=0')
    expect(html('$$\n\\int_0^1 x\n$$').querySelector('.formula-display')).not.toBeNull()
  })

  it('writes signs as they are', () => {
    expect(html('a < b & c > d "q" \\* &amp; 1 &lt; 2').textContent?.trim()).toBe('a < b & c > d "q" * & 1 < 2')
  })

  it.each([
    ['nested quotes', '>'.repeat(100_000) + ' x'],
    ['spaced quotes', '> '.repeat(100_000) + 'x'],
    ['quotes over many lines', Array.from({ length: 3000 }, (_, at) => '>'.repeat((at % 15) + 1) + ' x').join('\n')],
    ['nested lists', '- '.repeat(50_000) + 'x'],
    ['indented lists', Array.from({ length: 2000 }, (_, at) => ' '.repeat(at * 2) + '- x').join('\n')],
    ['brackets', '['.repeat(100_000)],
    ['links', '[a]('.repeat(30_000)],
    ['images', '![a]('.repeat(30_000)],
    ['emphasis', '*a **b '.repeat(20_000)],
    ['stars', '*'.repeat(100_000)],
    ['backticks', '` '.repeat(50_000)],
    ['tables', `|${'a|'.repeat(3000)}\n|${'-|'.repeat(3000)}\n` + `|${'b|'.repeat(3000)}\n`.repeat(3)],
    ['entities', '&#x'.repeat(50_000)],
    ['html', '<a '.repeat(50_000)],
    ['comments', '<!--'.repeat(50_000)],
    ['dollars', '$x '.repeat(40_000)],
    ['one long line', 'word '.repeat(200_000)],
    ['headings', '# '.repeat(50_000)],
    ['references', Array.from({ length: 3000 }, (_, at) => `[r${at}]: https://example.com/${at} "t"`).join('\n')],
    ['tilde fences', '~~~\n'.repeat(800)],
  ])('is done with hostile %s in time', (_name, text) => {
    const begun = performance.now()
    const page = html(text)
    expect(performance.now() - begun).toBeLessThan(4000)
    expect(page.textContent?.length).toBeGreaterThan(0)
  })
})
