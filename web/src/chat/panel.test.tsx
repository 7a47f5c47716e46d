import { act, cleanup, render, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { Tooltip } from 'radix-ui'
import { createRef } from 'react'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fakeServer } from '../api/fake-server.fixture'
import type { ChangedFile } from '../api/workspace-types'
import { preferences, setPreferences } from '../app/preferences'
import { ChangesChip } from './changes-chip'
import { Composer, type ComposerHandle } from './composer'
import { Panel } from './panel'
import { SubAgentLanes } from './sub-agent-lane'

const file: ChangedFile = { path: 'a.txt', kind: 'modified', added: 1, removed: 0, revertible: true }

beforeEach(() => {
  const server = fakeServer()
  server.on('GET /api/files', () => ({ path: '', entries: [{ name: 'b.txt', kind: 'file', bytes: 3, modifiedAt: 0 }] }))
  setPreferences({ panel: false, panelTab: 'details' })
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

describe('the panel beside a chat', () => {
  const show = () =>
    render(
      <Tooltip.Provider>
        <Panel
          chatId="c"
          messages={[]}
          lanes={new SubAgentLanes()}
          busy={false}
          changes={{ list: { files: [file], runs: [], changes: [] }, problem: undefined, refresh: () => undefined }}
          jobs={{ list: [], problem: undefined, refresh: () => undefined }}
          signal=""
          onOpenAgent={() => undefined}
          onAttach={() => undefined}
        />
      </Tooltip.Provider>,
    )

  it('has its details, its changes and the files, and remembers which was open', async () => {
    show()
    expect(screen.getByText(/will be shown here/)).toBeTruthy()
    await userEvent.click(screen.getByRole('tab', { name: /^Changes/ }))
    expect(screen.getByRole('button', { name: 'Revert a.txt' })).toBeTruthy()
    await userEvent.keyboard('{ArrowRight}')
    expect(screen.getByRole('tab', { name: 'Files' }).getAttribute('aria-selected')).toBe('true')
    expect(await screen.findByRole('treeitem', { name: /b\.txt/ })).toBeTruthy()
    expect(preferences().panelTab).toBe('files')
  })

  it('says on its tab how many files were changed', () => {
    show()
    expect(screen.getByRole('tab', { name: /^Changes/ }).textContent).toBe('Changes1')
  })
})

describe('the notice above a chat', () => {
  it('leads to the changes and back, and is not there without any', async () => {
    const { rerender, container } = render(<ChangesChip files={[]} />)
    expect(container.textContent).toBe('')
    rerender(<ChangesChip files={[file]} />)
    await userEvent.click(screen.getByRole('button', { name: '1 file changed' }))
    expect(preferences()).toMatchObject({ panel: true, panelTab: 'changes' })
    await userEvent.click(screen.getByRole('button', { name: '1 file changed', pressed: true }))
    expect(preferences().panel).toBe(false)
  })
})

describe('the composer', () => {
  it('takes a file of the workspace like any other', async () => {
    const ref = createRef<ComposerHandle>()
    const onSend = vi.fn()
    render(
      <Tooltip.Provider>
        <Composer ref={ref} draftKey="panel-test" busy={false} agents={[]} onSend={onSend} onStop={() => undefined} onCommand={() => undefined} />
      </Tooltip.Provider>,
    )
    act(() => ref.current?.attach([new File(['abc'], 'main.rs', { type: 'text/plain' })]))
    await screen.findByText('main.rs')
    await userEvent.click(screen.getByRole('button', { name: 'Send' }))
    await waitFor(() => expect(onSend).toHaveBeenCalledOnce())
    expect(onSend.mock.calls[0]?.[1]).toEqual([{ type: 'file', mediaType: 'text/plain', filename: 'main.rs', url: 'data:text/plain;base64,YWJj' }])
  })
})
