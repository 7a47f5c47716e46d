import { cleanup, render, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { Tooltip } from 'radix-ui'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fakeServer, problem, type FakeServer } from '../api/fake-server.fixture'
import type { ListedRule, RuleList } from '../api/workspace-types'
import { textsOf } from '../i18n'
import { ruleOf } from './rule-form'
import { ruleSentence } from './rule-words'
import { RulesSection } from './rules-section'

let server: FakeServer
const rule = (id: string, change: Partial<ListedRule> = {}): ListedRule => ({ id, effect: 'allow', layer: 'workspace', tools: ['write-file', 'edit-file'], path: 'src/**', revocable: true, ...change })
const list: RuleList = {
  mode: 'auto-read-only',
  rules: [
    rule('r1', { layer: 'session', chatId: 'c1', tools: ['shell'], path: undefined, command: 'git status', createdAt: 1000 }),
    rule('r2', { note: 'agreed on Monday' }),
    rule('r3', { layer: 'built-in', effect: 'refuse', tools: [], path: '.env', revocable: false }),
  ],
}

beforeEach(() => {
  server = fakeServer()
  server.on('GET /api/rules', () => list)
  server.on('GET /api/tools', () => ({ tools: [] }))
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const show = () =>
  render(
    <Tooltip.Provider>
      <RulesSection />
    </Tooltip.Provider>,
  )

describe('rules', () => {
  it('are listed by layer with what they mean', async () => {
    show()
    expect(await screen.findByText('Calls of write-file and edit-file on files that match src/** run without asking.')).toBeTruthy()
    expect(screen.getByText('Read only without asking')).toBeTruthy()
    expect(screen.getAllByRole('heading', { level: 3 }).map((one) => one.textContent)).toEqual(['Single chats', 'This workspace', 'Built in'])
    const own = screen.getByText('Calls of any tool on the file .env are refused.').closest('li') as HTMLElement
    expect(within(own).queryByRole('button')).toBeNull()
    expect(screen.getByText('agreed on Monday')).toBeTruthy()
  })

  it('are revoked after a question', async () => {
    server.on('DELETE /api/rules/r2', () => new Response(null, { status: 204 }))
    show()
    const row = (await screen.findByText(/src\/\*\*/)).closest('li') as HTMLElement
    await userEvent.click(within(row).getByRole('button'))
    const dialog = screen.getByRole('dialog', { name: 'Revoke this rule?' })
    expect(dialog.textContent).toContain('src/** run without asking')
    expect(server.called('DELETE /api/rules/r2')).toHaveLength(0)
    await userEvent.click(within(dialog).getByRole('button', { name: 'Revoke' }))
    await waitFor(() => expect(server.called('DELETE /api/rules/r2')).toHaveLength(1))
    await waitFor(() => expect(server.called('GET /api/rules')).toHaveLength(2))
  })

  it('can be added; the sentence says what the new one means', async () => {
    server.on('POST /api/rules', () => rule('r9'))
    show()
    await userEvent.click(await screen.findByRole('button', { name: 'Add a rule' }))
    const form = screen.getByRole('form', { name: 'Add a rule' })
    expect(within(form).getByRole('status').textContent).toContain('not possible')
    expect((within(form).getByRole('button', { name: 'Add the rule' }) as HTMLButtonElement).disabled).toBe(true)
    await userEvent.click(within(form).getByRole('radio', { name: 'Refuse' }))
    await userEvent.type(within(form).getByRole('combobox', { name: 'Tools' }), 'write-file, edit-*')
    await userEvent.type(within(form).getByRole('textbox', { name: 'Files' }), 'secrets/**')
    expect(within(form).getByRole('status').textContent).toBe('Calls of write-file and edit-* on files that match secrets/** are refused.')
    await userEvent.click(within(form).getByRole('button', { name: 'Add the rule' }))
    await waitFor(() => expect(server.called('POST /api/rules').map((call) => call.body)).toEqual([{ effect: 'refuse', tools: ['write-file', 'edit-*'], path: 'secrets/**' }]))
    await waitFor(() => expect(screen.queryByRole('form')).toBeNull())
  })

  it('that the server does not take stay in the form with the reason', async () => {
    server.on('POST /api/rules', () => problem(400, 'The pattern `[` is not closed.', 'invalid_json'))
    show()
    await userEvent.click(await screen.findByRole('button', { name: 'Add a rule' }))
    await userEvent.type(screen.getByRole('textbox', { name: 'Files' }), '[[')
    await userEvent.click(screen.getByRole('button', { name: 'Add the rule' }))
    expect((await screen.findByRole('alert')).textContent).toBe('The rule was not added. The pattern `[` is not closed.')
    expect((screen.getByRole('textbox', { name: 'Files' }) as HTMLInputElement).value).toBe('[')
  })

  it('that cannot be loaded say so; a server without rules shows nothing', async () => {
    server.on('GET /api/rules', () => problem(503, 'Away.'))
    const first = show()
    expect((await screen.findByRole('alert')).textContent).toContain('Away.')
    first.unmount()
    server.on('GET /api/rules', () => problem(404, 'nothing', 'not_found'))
    const { container } = show()
    await waitFor(() => expect(container.textContent).toBe(''))
  })
})

describe('the words of a rule', () => {
  it('name tools, files and commands in both languages', () => {
    const [en, zh] = [textsOf('en'), textsOf('zh')]
    expect(ruleSentence({ effect: 'ask', tools: ['shell'], command: 'git' }, en)).toBe('Calls of shell with commands that begin with “git” ask first.')
    expect(ruleSentence({ effect: 'allow', tools: ['write-file', 'edit-file'], path: 'src/**' }, zh)).toBe('write-file、edit-file 对匹配 src/** 的文件的调用直接运行，不询问。')
    expect(ruleSentence({ effect: 'refuse', tools: ['shell'], command: 'rm' }, zh)).toBe('shell 执行以“rm”开头的命令的调用会被拒绝。')
  })

  it('a form leaves out what is empty', () => {
    expect(ruleOf('ask', ' a， b、c ', ' ', ' why ')).toEqual({ effect: 'ask', tools: ['a', 'b', 'c'], note: 'why' })
  })
})
