import { cleanup, render, screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { Tooltip } from 'radix-ui'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { setPreferences } from '../../app/preferences'
import { JobsContext } from '../../jobs/jobs-context'
import { makeJob } from '../../jobs/jobs.fixture'
import { seen, type SeenJob } from '../../jobs/use-jobs'
import { sessions } from '../../sessions/sessions-store'
import { ChatContext } from '../chat-context'
import type { ChatMessage, Part } from '../message-types'
import { SubAgentLanes } from '../sub-agent-lane'
import { MessageParts } from './message-parts'

beforeEach(() => {
  sessions.state = { ...sessions.state, approvals: [] }
  vi.spyOn(sessions, 'refresh').mockResolvedValue()
})
afterEach(() => {
  cleanup()
  vi.restoreAllMocks()
  setPreferences({ language: 'system' })
})

const report = (change: object = {}) => ({ exitCode: 0, durationMs: 1200, output: 'ok\n', sandbox: 'files: landlock 7; network: none', ...change })
const call = (tool: string, input: object, state: object): Part => ({ type: `tool-${tool}`, toolCallId: 'c1', input, ...state }) as Part
const done = (output: object, input: object = { command: 'make' }, tool = 'shell-command') => call(tool, input, { state: 'output-available', output })

function show(part: Part, jobs: SeenJob[] = []) {
  const open = vi.fn()
  const message: ChatMessage = { id: 'm', role: 'assistant', metadata: {}, parts: [part] }
  const view = render(
    <Tooltip.Provider>
      <ChatContext value={{ chatId: 'c', lanes: new SubAgentLanes(), readOnly: false, answer: () => Promise.resolve(), fillIn: () => Promise.resolve(), openAgent: () => undefined }}>
        <JobsContext value={{ list: jobs, shown: undefined, show: open }}>
          <MessageParts message={message} streaming={false} />
        </JobsContext>
      </ChatContext>
    </Tooltip.Provider>,
  )
  return { ...view, open }
}

const card = () => screen.getByRole('group', { name: /^Command: / })
const facts = () => document.querySelector('.command-facts')?.textContent

describe('a command card', () => {
  it('shows the line, the folder, the result and the output in place of data', () => {
    const { container } = show(done(report(), { actionName: 'Build it', command: 'make -j2', workdir: '/workspace/src' }))
    expect(card().querySelector('.command-line')?.textContent).toBe('$ make -j2')
    expect(facts()).toBe('exit code 01.2 sin /workspace/srcSandboxBuild it')
    expect(screen.getByRole('group', { name: 'Output of make -j2' }).textContent).toBe('ok\n')
    expect(container.textContent).not.toContain('{')
  })

  it('joins the words of an argv with quotes', () => {
    show(done(report(), { command: ['grep', '-n', 'a b', '$x'] }, 'shell'))
    expect(card().querySelector('.command-line')?.textContent).toBe("$ grep -n 'a b' '$x'")
  })

  it('says how a command failed', () => {
    const endings: [object, string][] = [
      [{ exitCode: 101 }, 'exit code 101'],
      [{ exitCode: undefined, signal: 'SIGSEGV' }, 'ended by SIGSEGV'],
      [{ exitCode: undefined, signal: 'SIGKILL', timedOut: true }, 'timed out'],
    ]
    for (const [change, text] of endings) {
      show(done(report(change)))
      expect(screen.getByText(text).className).toContain('ending-danger')
      cleanup()
    }
    show(done(report()))
    expect(screen.getByText('exit code 0').className).toContain('ending-ok')
  })

  it('says what the sandbox was, and warns when something is missing', async () => {
    show(done(report({ sandbox: 'files: landlock 7; missing: network namespace' })))
    const chip = screen.getByRole('button', { name: 'Sandbox incomplete' })
    expect(chip.className).toContain('sandbox-weak')
    expect(chip.title).toContain('missing: network namespace')
    await userEvent.click(chip)
    expect(screen.getByText('files: landlock 7; missing: network namespace')).toBeTruthy()
    cleanup()
    show(done(report({ sandbox: 'no sandbox' })))
    expect(screen.getByRole('button', { name: 'No sandbox' }).className).toContain('sandbox-weak')
  })

  it('folds long output, and leads to what is left out', async () => {
    const lines = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`).join('\n')
    show(done(report({ output: lines, leftOutBytes: 5_000_000, artifact: { id: 'art_1', name: 'output.txt', bytes: 6_000_000, url: '/api/artifacts/art_1' }, note: 'A limit was reached.' })))
    const region = screen.getByRole('group', { name: 'Output of make' })
    expect(region.textContent?.trim().split('\n')).toHaveLength(12)
    await userEvent.click(screen.getByRole('button', { name: 'Show 28 more lines' }))
    expect(region.textContent?.trim().split('\n')).toHaveLength(40)
    await userEvent.click(screen.getByRole('button', { name: 'Show less' }))
    expect(region.textContent?.trim().split('\n')).toHaveLength(12)
    expect(screen.getByText(/5\.0 MB in the middle are left out/)).toBeTruthy()
    expect(screen.getByRole('link', { name: 'Download the whole output (6.0 MB)' }).getAttribute('href')).toBe('/api/artifacts/art_1')
    expect(screen.getByText('A limit was reached.')).toBeTruthy()
  })

  it('follows no address that is not on this server', () => {
    show(done(report({ leftOutBytes: 1, artifact: { id: 'a', name: 'x', bytes: 1, url: 'https://elsewhere/' } })))
    expect(screen.queryByRole('link')).toBeNull()
  })

  it('shows live output while it runs, all of it', () => {
    const lines = Array.from({ length: 40 }, (_, at) => `line ${at + 1}`).join('\n')
    show(call('shell-command', { command: 'make' }, { state: 'output-available', preliminary: true, output: report({ exitCode: undefined, output: lines, durationMs: 65_000 }) }))
    expect(screen.getByRole('group', { name: 'Output of make' }).textContent?.trim().split('\n')).toHaveLength(40)
    expect(facts()).toContain('running1 min 5 s')
    cleanup()
    show(call('shell-command', { command: 'make' }, { state: 'output-available', preliminary: true, output: report({ exitCode: undefined, output: '' }) }))
    expect(screen.getByText('No output yet.')).toBeTruthy()
    cleanup()
    show(call('shell-command', { command: 'make' }, { state: 'input-available' }))
    expect(facts()).toBe('running')
    cleanup()
    show(call('shell-command', { command: 'ma' }, { state: 'input-streaming' }))
    expect(facts()).toBe('preparing')
  })

  it('says that there was no output', () => {
    show(done(report({ output: '' })))
    expect(screen.getByText('No output.')).toBeTruthy()
  })

  it('of a call that failed or was denied says why', () => {
    show(call('shell-command', { command: 'make' }, { state: 'output-error', errorText: 'The sandbox could not be started.' }))
    expect(card().textContent).toContain('failedThe sandbox could not be started.')
    cleanup()
    show(call('shell-command', { command: 'make' }, { state: 'output-denied', approval: { id: 'a', approved: false, reason: 'not now' } }))
    expect(card().textContent).toContain('deniedYou denied this: not now')
  })

  it('of a session opens its terminal, and says when it has ended since', async () => {
    const input = { cmd: 'python3', tty: true }
    const output = report({ exitCode: undefined, sessionId: 'job_1', output: '>>> ' })
    const { open } = show(done(output, input, 'exec-command'), [seen(makeJob('job_1', { tty: true }))])
    expect(facts()).toContain('still runs')
    await userEvent.click(screen.getByRole('button', { name: 'Open the terminal' }))
    expect(open).toHaveBeenCalledExactlyOnceWith('job_1')
    cleanup()
    show(done(output, input, 'exec-command'), [seen(makeJob('job_1', { tty: true, state: 'ended', exitCode: 3 }))])
    expect(facts()).toContain('exit code 3')
  })

  it('of a plain command opens its output by the call', async () => {
    const { open } = show(done(report()), [seen(makeJob('job_2', { toolCallId: 'c1' }))])
    await userEvent.click(screen.getByRole('button', { name: 'Open the output' }))
    expect(open).toHaveBeenCalledExactlyOnceWith('job_2')
  })

  it('names the keys that go to a session', () => {
    show(done(report({ sessionId: 'job_1' }), { sessionId: 'job_1', chars: 'exit\n\u0003' }, 'write-stdin'), [seen(makeJob('job_1', { command: 'python3 -q' }))])
    expect(card().querySelector('.command-line')?.textContent).toBe('Types exit⏎^C · python3 -q')
    cleanup()
    show(done(report({ sessionId: 'job_1' }), { sessionId: 'job_1' }, 'write-stdin'))
    expect(card().querySelector('.command-line')?.textContent).toBe('Looks at the output')
  })

  it('folds a long command and copies all of it', async () => {
    const command = Array.from({ length: 30 }, (_, at) => `echo ${at}`).join('\n')
    const { container } = show(done(report(), { command }))
    expect(container.querySelector('.command-folded')).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: 'Show the whole command' }))
    expect(container.querySelector('.command-folded')).toBeNull()
    const user = userEvent.setup()
    await user.click(screen.getByRole('button', { name: 'Copy the command' }))
    expect(await navigator.clipboard.readText()).toBe(command)
  })

  it('leaves results of another shape to the general view', async () => {
    show(done({ something: 'else' }))
    expect(screen.queryByRole('group', { name: /^Command/ })).toBeNull()
    await userEvent.click(screen.getByRole('button', { name: /make/ }))
    expect(screen.getByText('something')).toBeTruthy()
  })

  it('is there in Chinese', () => {
    setPreferences({ language: 'zh' })
    show(done(report({ sandbox: 'no sandbox', leftOutBytes: 2000 }), { command: 'make', workdir: '/workspace' }))
    expect(facts()).toBe('退出码 01.2 s位于 /workspace无沙箱')
    expect(screen.getByText(/中间省略了 2\.0 kB。/)).toBeTruthy()
  })
})

describe('an approval of a command', () => {
  const ask = (tool: string, input: object) => {
    const approval = { id: 'apr_1', kind: 'approval', run: 'r', message: 'm', toolCall: 'c', tool, input: {}, status: 'pending', askedAt: 0 } as const
    sessions.state = { ...sessions.state, approvals: [{ chatId: 'c', title: null, approval, question: { why: 'It deletes a tree.', sensitive: true } }] }
    show(call(tool, input, { state: 'approval-requested', approval: { id: 'apr_1' } }))
    return within(screen.getByRole('group'))
  }

  it('shows all of it and why it asks', () => {
    const long = `rm -r ${'a'.repeat(5000)}`
    const group = ask('shell-command', { command: long, workdir: '/workspace/x' })
    expect(group.getByText(/It deletes a tree/)).toBeTruthy()
    expect(document.querySelector('.command')?.textContent).toBe(`$ ${long}`)
    expect(group.getByText('/workspace/x')).toBeTruthy()
  })

  it('quotes an argv, and writes out what nobody could see', () => {
    ask('shell', { command: ['rm', 'a b', 'x\u202ey\u200b'] })
    expect(document.querySelector('.command')?.textContent).toBe("$ rm 'a b' 'xU+202EyU+200B'")
    expect([...document.querySelectorAll('mark')].map((mark) => mark.title)).toEqual(['hidden character U+202E', 'hidden character U+200B'])
  })

  it('names the keys of a session', () => {
    ask('write-stdin', { sessionId: 'job_1', chars: 'rm -r .\n' })
    expect(document.querySelector('.command')?.textContent).toBe('⌨ rm -r .⏎')
  })
})
