import { cleanup, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { Tooltip } from 'radix-ui'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fakeServer, problem, type FakeServer } from '../api/fake-server.fixture'
import type { FolderEntry, FolderList } from '../api/workspace-types'
import { hideToast, showToast, Toasts } from '../ui/toasts'
import { FilesPane } from './files-pane'
import { LARGEST_TEXT, textOf } from './routes'

let server: FakeServer
const entry = (name: string, change: Partial<FolderEntry> = {}): FolderEntry => ({ name, kind: 'file', bytes: 1200, modifiedAt: 0, ...change })
const folder = (name: string) => entry(name, { kind: 'directory', bytes: 0 })

const top: FolderList = { path: '', entries: [folder('empty'), folder('src'), entry('README.md'), entry('a.bin'), entry('huge.log', { bytes: 90_000_000 }), entry('logo.png'), entry('notes.tmp', { ignored: true })] }
const tree: Record<string, FolderList> = {
  '': top,
  src: { path: 'src', entries: [entry('lib.rs'), entry('main.rs')], cut: true },
  empty: { path: 'empty', entries: [] },
}
const contents: Record<string, string | Response> = { 'README.md': '# Hello\n\nline three\n', 'src/main.rs': 'fn main() {}\n' }

let chat = 0
beforeEach(() => {
  chat++
  server = fakeServer()
  server.on('GET /api/files', ({ query }) => tree[query.get('path') ?? ''] ?? problem(404, 'no such folder', 'not_found'))
  server.on('GET /api/files/content', ({ query }) => {
    const path = query.get('path') ?? ''
    return path === 'a.bin' ? new Response(new Uint8Array([1, 0, 2])) : (contents[path] ?? problem(404, `${path} does not exist`, 'not_found'))
  })
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
  // Those of the last test.
  for (let id = showToast({ text: '' }); id > 0; id--) hideToast(id)
})

const view = (signal: string, onAttach: (files: File[]) => void, id = `c${chat}`) => (
  <Tooltip.Provider>
    <FilesPane chatId={id} signal={signal} onAttach={onAttach} />
    <Toasts />
  </Tooltip.Provider>
)

async function show(onAttach: (files: File[]) => void = () => undefined) {
  const shown = render(view('0', onAttach))
  await screen.findByRole('treeitem', { name: /README/ })
  return shown
}

const names = () => screen.getAllByRole('treeitem').map((item) => item.querySelector('.tree-entry-name')?.textContent)

describe('the tree of files', () => {
  it('fetches a folder when it is opened, and says what is in it', async () => {
    await show()
    expect(server.calls.map((call) => call.query.get('path'))).toEqual([''])
    expect(screen.getByRole('treeitem', { name: /notes\.tmp/ }).className).toContain('tree-ignored')
    await userEvent.click(screen.getByRole('treeitem', { name: 'src' }))
    const inner = await screen.findByRole('treeitem', { name: /main\.rs/ })
    expect(inner.getAttribute('aria-level')).toBe('2')
    expect(screen.getByText('This folder has more entries than are shown.')).toBeTruthy()
    await userEvent.click(screen.getByRole('treeitem', { name: 'empty' }))
    expect(await screen.findByText('This folder is empty.')).toBeTruthy()
    await userEvent.click(screen.getByRole('treeitem', { name: 'src' }))
    expect(screen.queryByRole('treeitem', { name: /main\.rs/ })).toBeNull()
  })

  it('is used with the keys of a tree', async () => {
    await show()
    await userEvent.tab()
    await userEvent.tab()
    expect(document.activeElement?.textContent).toBe('empty')
    await userEvent.keyboard('{ArrowDown}{ArrowRight}')
    await screen.findByRole('treeitem', { name: /main\.rs/ })
    await userEvent.keyboard('{ArrowRight}')
    expect(document.activeElement?.textContent).toContain('lib.rs')
    await userEvent.keyboard('{ArrowLeft}')
    expect(document.activeElement?.textContent).toBe('src')
    await userEvent.keyboard('{ArrowLeft}')
    expect(names()).not.toContain('main.rs')
    await userEvent.keyboard('r')
    expect(document.activeElement?.textContent).toContain('README')
    await userEvent.keyboard('{Enter}')
    expect(await screen.findByRole('table', { name: 'README.md' })).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: 'Back to the files' }))
    expect(document.activeElement?.textContent).toContain('README')
  })

  it('remembers open folders of a chat, and follows changes to files', async () => {
    const first = await show()
    await userEvent.click(screen.getByRole('treeitem', { name: 'src' }))
    await screen.findByRole('treeitem', { name: /main\.rs/ })
    first.unmount()
    const again = await show()
    await screen.findByRole('treeitem', { name: /main\.rs/ })
    server.on('GET /api/files', ({ query }) => (query.get('path') === 'src' ? { path: 'src', entries: [entry('made.rs')] } : top))
    again.rerender(view('1', () => undefined))
    expect(await screen.findByRole('treeitem', { name: /made\.rs/ })).toBeTruthy()
  })

  it('says why a folder cannot be listed', async () => {
    server.on('GET /api/files', () => problem(503, 'The folder is away.'))
    render(view('0', () => undefined))
    expect((await screen.findByRole('alert')).textContent).toBe('The folder is away.')
    server.on('GET /api/files', () => top)
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }))
    expect(await screen.findByRole('treeitem', { name: /README/ })).toBeTruthy()
  })
})

describe('a file', () => {
  const open = async (name: RegExp) => userEvent.click(screen.getByRole('treeitem', { name }))

  it('of text is shown with its lines, and rendered where that means something', async () => {
    await show()
    await open(/README/)
    const table = await screen.findByRole('table', { name: 'README.md' })
    expect([...table.querySelectorAll('.diff-number')].map((cell) => cell.textContent)).toEqual(['1', '2', '3'])
    await userEvent.click(screen.getByRole('radio', { name: 'Preview' }))
    expect(screen.getByText('Hello').closest('.md')).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Download README.md' }).getAttribute('href')).toBe('/api/files/content?path=README.md&download=1')
  })

  it('that is a picture is shown as one', async () => {
    await show()
    await open(/logo/)
    expect(screen.getByRole('img', { name: 'logo.png' }).getAttribute('src')).toBe('/api/files/content?path=logo.png')
  })

  it('that is not text is not shown', async () => {
    await show()
    await open(/a\.bin/)
    expect(await screen.findByText('This file is not text and cannot be shown.')).toBeTruthy()
  })

  it('that is gone says so', async () => {
    await show()
    await open(/notes/)
    expect((await screen.findByRole('alert')).textContent).toContain('notes.tmp does not exist')
  })

  it('is attached to the next message', async () => {
    const onAttach = vi.fn<(files: File[]) => void>()
    await show(onAttach)
    await open(/README/)
    await userEvent.click(await screen.findByRole('button', { name: 'Attach README.md to the message' }))
    await screen.findByText('README.md is attached to your next message.')
    const file = onAttach.mock.calls[0]?.[0][0]
    expect(file?.name).toBe('README.md')
    expect(await file?.text()).toBe('# Hello\n\nline three\n')
  })

  it('that is too large for a message is not even fetched', async () => {
    const onAttach = vi.fn()
    await show(onAttach)
    const row = screen.getByRole('treeitem', { name: /huge\.log/ })
    await userEvent.click(row.querySelector('.tree-entry-attach') as HTMLElement)
    expect((await screen.findByRole('alert')).textContent).toContain('huge.log is larger than')
    expect(server.called('GET /api/files/content')).toHaveLength(0)
    expect(onAttach).not.toHaveBeenCalled()
  })
})

describe('bytes', () => {
  const utf8 = (text: string) => new TextEncoder().encode(text)

  it('are text when they are UTF-8 or marked UTF-16', () => {
    expect(textOf(utf8('grün 中文'), false)).toEqual({ kind: 'text', text: 'grün 中文', cut: false })
    expect(textOf(new Uint8Array([0xff, 0xfe, 0x41, 0x00]), false)).toMatchObject({ kind: 'text', text: 'A' })
    expect(textOf(new Uint8Array(), false)).toEqual({ kind: 'text', text: '', cut: false })
  })

  it('are not text with a zero or a broken sequence, but may end within a character', () => {
    expect(textOf(new Uint8Array([65, 0, 66]), false)).toEqual({ kind: 'binary' })
    expect(textOf(new Uint8Array([0x41, 0xff, 0x42]), false)).toEqual({ kind: 'binary' })
    const half = utf8('ab中').subarray(0, 4)
    expect(textOf(half, true)).toEqual({ kind: 'text', text: 'ab', cut: true })
    expect(textOf(half, false)).toEqual({ kind: 'binary' })
  })

  it('of a long file are read only as far as they are shown', async () => {
    let sent = 0
    server.on('GET /api/files/content', () =>
      new Response(
        new ReadableStream({
          pull: (stream) => {
            sent++
            stream.enqueue(utf8(`${'x'.repeat(99_999)}\n`))
          },
        }),
      ),
    )
    await show()
    await userEvent.click(screen.getByRole('treeitem', { name: /README/ }))
    expect(await screen.findByText(/Only the first 400 kB are shown/)).toBeTruthy()
    expect(sent * 100_000).toBeLessThan(LARGEST_TEXT * 2)
  })
})
