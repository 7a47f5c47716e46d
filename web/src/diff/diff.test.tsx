import { cleanup, render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { Tooltip } from 'radix-ui'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { FileDiff } from '../api/workspace-types'
import { preferences, setPreferences } from '../app/preferences'
import { FileDiffs } from './file-diffs'
import { parseHunks } from './hunks'
import { languageOf, mix, splitLines } from './paint'
import { inlineRows, splitRows } from './rows'
import { diffWords } from './words'

afterEach(() => {
  cleanup()
  vi.restoreAllMocks()
  setPreferences({ diffLayout: 'inline' })
})

const DIFF = `@@ -3,4 +3,5 @@ fn main() {
 let a = 1;
-let total = count(a);
+let total = count_all(a, b);
+print(total);
 done();
 }
\\ No newline at end of file
@@ -20 +21,0 @@
-gone
`

describe('a unified diff', () => {
  it('is read into numbered lines', () => {
    const [first, second] = parseHunks(DIFF)
    expect(first?.heading).toBe('fn main() {')
    expect(first?.lines.map((line) => [line.kind, line.old, line.new])).toEqual([
      ['same', 3, 3],
      ['remove', 4, undefined],
      ['add', undefined, 4],
      ['add', undefined, 5],
      ['same', 5, 6],
      ['same', 6, 7],
    ])
    expect(first?.lines.at(-1)?.noNewline).toBe(true)
    expect(second?.lines).toEqual([{ kind: 'remove', text: 'gone', old: 20 }])
  })

  it('keeps a removed line that looks like a header, and leaves real headers out', () => {
    const [hunk] = parseHunks('--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- old rule\n same')
    expect(hunk?.lines).toEqual([
      { kind: 'remove', text: '-- old rule', old: 1 },
      { kind: 'same', text: 'same', old: 2, new: 1 },
    ])
  })

  it('without a place has no numbers, and nothing at all is no hunk', () => {
    expect(parseHunks('@@ -0 +0 @@\n-a\n+b')[0]?.placed).toBe(false)
    expect(parseHunks('@@ -0,0 +1 @@\n+b')[0]?.placed).toBe(true)
    expect(parseHunks('-a\n+b')).toMatchObject([{ placed: false, lines: [{ kind: 'remove' }, { kind: 'add' }] }])
    expect(parseHunks('')).toEqual([])
  })
})

describe('words', () => {
  const marked = (before: string, after: string) => {
    const show = (segments: { text: string; changed: boolean }[]) => segments.map(({ text, changed }) => (changed ? `[${text}]` : text)).join('')
    const words = diffWords(before, after)
    return [show(words.before), show(words.after)]
  }

  it('that changed are found', () => {
    expect(marked('let total = count(a);', 'let total = count_all(a, b);')).toEqual(['let total = [count](a);', 'let total = [count_all](a[, b]);'])
    expect(marked('把文件移动到这里', '把文件复制到这里')).toEqual(['把文件[移动]到这里', '把文件[复制]到这里'])
    expect(marked('', 'x')).toEqual(['', '[x]'])
  })

  it('give back both texts whatever they are', () => {
    const signs = ['a', 'b ', '(', ' ', '中', '😀', '\t', 'x1']
    let seed = 7
    const some = () => Array.from({ length: 12 }, () => signs[(seed = (seed * 48271) % 2147483647) % signs.length]).join('')
    for (let round = 0; round < 300; round++) {
      const [before, after] = [some(), some()]
      const words = diffWords(before, after)
      expect(words.before.map((one) => one.text).join('')).toBe(before)
      expect(words.after.map((one) => one.text).join('')).toBe(after)
      const kept = (segments: typeof words.before) => segments.filter((one) => !one.changed).map((one) => one.text.replace(/\s+/g, '')).join('')
      expect(kept(words.before)).toBe(kept(words.after))
    }
  })

  it('of very long lines are not compared', () => {
    const long = 'x '.repeat(3000)
    expect(diffWords(long, `${long}y`).before).toEqual([{ text: long, changed: true }])
  })
})

describe('rows', () => {
  it('similar lines stand beside each other and have their words marked', () => {
    const hunk = parseHunks(DIFF)[0] ?? { heading: '', placed: true, lines: [] }
    const rows = splitRows(hunk).map(({ left, right }) => [left?.text, right?.text])
    expect(rows).toEqual([
      ['let a = 1;', 'let a = 1;'],
      ['let total = count(a);', 'let total = count_all(a, b);'],
      [undefined, 'print(total);'],
      ['done();', 'done();'],
      ['}', '}'],
    ])
    expect(inlineRows(hunk)).toHaveLength(hunk.lines.length)
    expect(inlineRows(hunk)[1]?.words).toContainEqual({ text: 'count', changed: true })
  })

  it('a line is paired with the one it became, not with its neighbour', () => {
    const [hunk] = parseHunks('@@ -1,1 +1,3 @@\n-the quick brown fox\n+// a new comment here\n+#[test]\n+the quick red fox\n')
    const rows = hunk ? splitRows(hunk) : []
    expect(rows.find((row) => row.left)?.right?.text).toBe('the quick red fox')
    expect(rows).toHaveLength(3)
  })

  it('lines without anything in common have no marked words', () => {
    const [hunk] = parseHunks('@@ -1 +1 @@\n-alpha beta\n+(0)\n')
    expect(hunk && splitRows(hunk)).toEqual([{ left: { kind: 'remove', text: 'alpha beta', old: 1 }, right: { kind: 'add', text: '(0)', new: 1 } }])
  })
})

describe('colours', () => {
  it('are cut where changed words begin and end', () => {
    const words = [{ text: 'let ab', changed: false }, { text: 'cd', changed: true }, { text: ';', changed: false }]
    const mixed = mix('let abcd;', [{ text: 'let', name: 'k' }, { text: ' abcd;', name: '' }], words)
    expect(mixed).toEqual([
      { text: 'let', name: 'k', changed: false },
      { text: ' ab', name: '', changed: false },
      { text: 'cd', name: '', changed: true },
      { text: ';', name: '', changed: false },
    ])
  })

  it('go on over the end of a line', () => {
    expect(splitLines(['a', { name: 'c', children: ['/* x\ny */', { name: '', children: ['z'] }] }, '\n'])).toEqual([
      [{ text: 'a', name: '' }, { text: '/* x', name: 'c' }],
      [{ text: 'y */', name: 'c' }, { text: 'z', name: 'c' }],
      [],
    ])
  })

  it('languages go by the name of the file', () => {
    expect(['src/a.test.TS', 'Dockerfile', '.gitignore', 'x/Makefile', 'README'].map(languageOf)).toEqual(['ts', 'dockerfile', '', 'makefile', ''])
  })
})

const file = (change: Partial<FileDiff> = {}): FileDiff => ({ path: 'src/main.rs', kind: 'modified', added: 2, removed: 2, diff: DIFF, ...change })

const show = (files: FileDiff[]) =>
  render(
    <Tooltip.Provider>
      <FileDiffs files={files} />
    </Tooltip.Provider>,
  )

describe('changes to files', () => {
  it('say what happens, how many lines, and mark the changed words', () => {
    show([file()])
    const head = screen.getByRole('button', { name: /main\.rs/ })
    expect(head.getAttribute('aria-expanded')).toBe('true')
    expect(within(head).getByRole('img', { name: 'modified' })).toBeTruthy()
    expect(within(head).getByText('2 lines added, 2 removed')).toBeTruthy()
    const table = screen.getByRole('table', { name: 'Changed lines of src/main.rs' })
    expect([...table.querySelectorAll('mark')].map((mark) => mark.textContent)).toEqual(['count', 'count_all', ', b'])
    expect(screen.getAllByText('No line break at the end of the file')).toHaveLength(1)
  })

  it('stand side by side only where there is room, and that is remembered', async () => {
    show([file()])
    expect(screen.queryByRole('button', { name: 'Show changes side by side' })).toBeNull()
    cleanup()
    vi.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(900)
    const { container } = show([file()])
    await userEvent.click(screen.getByRole('button', { name: 'Show changes side by side' }))
    expect(container.querySelector('.diff-split')).toBeTruthy()
    expect(preferences().diffLayout).toBe('split')
    await userEvent.click(screen.getByRole('button', { name: 'Show changes inline' }))
    expect(container.querySelector('.diff-split')).toBeNull()
  })

  it('that are long are folded', async () => {
    const lines = Array.from({ length: 300 }, (_, at) => `+line ${at + 1}`).join('\n')
    show([file({ kind: 'created', added: 300, removed: 0, diff: `@@ -0,0 +1,300 @@\n${lines}\n` })])
    expect(screen.queryByText('line 61')).toBeNull()
    await userEvent.click(screen.getByRole('button', { name: 'Show all 300 lines' }))
    expect(screen.getByText('line 300')).toBeTruthy()
  })

  it('in many files open the first ones', () => {
    show(Array.from({ length: 6 }, (_, at) => file({ path: `f${at}.txt` })))
    expect(screen.getAllByRole('button', { name: /f\d\.txt/ }).map((head) => head.getAttribute('aria-expanded'))).toEqual(['true', 'true', 'true', 'true', 'false', 'false'])
  })

  it('without text say why', () => {
    show([file({ path: 'a.png', diff: '', added: 0, removed: 0 }), file({ path: 'b.txt', from: 'a.txt', diff: '', added: 0, removed: 0 }), file({ path: 'c.txt', cut: true })])
    expect(screen.getByText(/empty or binary/)).toBeTruthy()
    expect(screen.getByText(/its content stays the same/)).toBeTruthy()
    expect(screen.getByRole('img', { name: 'moved' })).toBeTruthy()
    expect(screen.getByText(/only its beginning is shown/)).toBeTruthy()
  })

  it('show a carriage return that was added', () => {
    show([file({ diff: '@@ -1 +1 @@\n-a b c\n+a b c\r\n' })])
    expect(screen.getByRole('table').textContent).toContain('␍')
  })
})
