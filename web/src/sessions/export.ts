// A whole chat as a file: Markdown to read, JSON to keep.

import { isToolPart, planOf, toolName, type ChatMessage } from '../chat/message-types'
import { fetchHistory } from '../chat/routes'

const PAGE = 500
const MOST = 100_000

export async function exportMarkdown(id: string, title: string): Promise<void> {
  save(`${fileName(title)}.md`, 'text/markdown', markdownOf(title, await allMessages(id)))
}

export async function exportJson(id: string, title: string): Promise<void> {
  save(`${fileName(title)}.json`, 'application/json', JSON.stringify({ id, title, messages: await allMessages(id) }, null, 2))
}

async function allMessages(id: string): Promise<ChatMessage[]> {
  let messages = await fetchHistory(id, { limit: PAGE })
  let page = messages
  while (page.length === PAGE && messages.length < MOST) {
    page = await fetchHistory(id, { limit: PAGE, before: page[0]?.id ?? '' })
    messages = [...page, ...messages]
  }
  return messages
}

export function markdownOf(title: string, messages: readonly ChatMessage[]): string {
  const sections = messages.map((message) => {
    const who = message.role === 'user' ? 'You' : (message.metadata?.agent?.displayName ?? 'Assistant')
    return `## ${who}\n\n${message.parts.map(partText).filter(Boolean).join('\n\n')}`
  })
  return `# ${title}\n\n${sections.join('\n\n')}\n`
}

function partText(part: ChatMessage['parts'][number]): string {
  if (part.type === 'text') return part.text
  if (part.type === 'file') return `*${part.filename ?? part.mediaType}*`
  if (part.type === 'source-url') return `[${part.title ?? part.url}](${part.url})`
  if (part.type === 'data-plan' && 'data' in part) {
    return planOf(part.data)?.steps.map((step) => `- [${step.status === 'completed' ? 'x' : ' '}] ${step.step}`).join('\n') ?? ''
  }
  if (isToolPart(part) && toolName(part) !== 'update-plan') {
    const result = part.state === 'output-available' ? part.output : part.state === 'output-error' ? part.errorText : part.state
    return `<details><summary>${toolName(part)}</summary>\n\n\`\`\`json\n${JSON.stringify({ input: part.input, result }, null, 2)}\n\`\`\`\n\n</details>`
  }
  return ''
}

const fileName = (title: string): string => title.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '').slice(0, 60) || 'chat'

function save(name: string, type: string, text: string) {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
