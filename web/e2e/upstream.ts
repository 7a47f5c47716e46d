// A model server on loopback that says what a test tells it to: OpenAI's chat completions, streamed. The last message of
// the user (or of a tool) chooses the script.

import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Step =
  | { say: string; pieces?: number; pause?: number }
  | { think: string }
  | { call: string; input: unknown; id?: string }
  | { wait: Promise<void> }

export interface Asked {
  /** The last line of the newest message of the user. */
  text: string
  /** All of it: a sub-agent's task and what it is told beside it. */
  whole: string
  /** How many tool results stand behind it. */
  results: number
  /** The newest of them. */
  result: string
  system: string
  tools: string[]
}

interface WireMessage {
  role: string
  content?: unknown
}

export type Script = (asked: Asked) => Step[]

export class Upstream {
  #server: Server
  readonly calls: Asked[] = []
  script: Script

  private constructor(server: Server, script: Script) {
    this.#server = server
    this.script = script
  }

  static async start(script: Script, port = 0): Promise<Upstream> {
    const server = createServer()
    const upstream = new Upstream(server, script)
    server.on('request', (request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        if (request.method !== 'POST') {
          response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"list","data":[{"id":"script"}]}')
          return
        }
        const asked = read(JSON.parse(body) as { messages: WireMessage[]; tools?: { function: { name: string } }[] })
        upstream.calls.push(asked)
        void answer(response, upstream.script(asked))
      })
    })
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    return upstream
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

function read(body: { messages: WireMessage[]; tools?: { function: { name: string } }[] }): Asked {
  const last = body.messages.findLastIndex((message) => message.role === 'user')
  const whole = textOf(body.messages[last]?.content)
  const results = body.messages.slice(last + 1).filter((message) => message.role === 'tool')
  return {
    whole,
    // The facts of the turn stand before what the person wrote.
    text: whole.trim().split('\n').at(-1) ?? '',
    results: results.length,
    result: textOf(results.at(-1)?.content),
    system: textOf(body.messages.find((message) => message.role === 'system')?.content),
    tools: (body.tools ?? []).map((tool) => tool.function.name),
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: { text?: string }) => part.text ?? '').join('\n')
}

async function answer(response: ServerResponse, steps: Step[]): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (delta: object, finish: string | null = null) => {
    if (!response.writableEnded && !response.destroyed) {
      response.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'script', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`)
    }
  }
  let calls = 0
  for (const step of steps) {
    if (response.destroyed) return
    if ('wait' in step) await step.wait
    else if ('think' in step) send({ reasoning_content: step.think })
    else if ('call' in step) {
      send({ tool_calls: [{ index: calls, id: step.id ?? `call_${Math.random().toString(36).slice(2, 10)}`, type: 'function', function: { name: step.call, arguments: JSON.stringify(step.input) } }] })
      calls++
    } else {
      const size = Math.max(1, Math.ceil(step.say.length / (step.pieces ?? 8)))
      for (let at = 0; at < step.say.length; at += size) {
        send({ content: step.say.slice(at, at + size) })
        if (step.pause) await new Promise((resolve) => setTimeout(resolve, step.pause))
      }
    }
  }
  send({}, calls > 0 ? 'tool_calls' : 'stop')
  response.write(`data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 1200, completion_tokens: 340, total_tokens: 1540 } })}\n\n`)
  response.end('data: [DONE]\n\n')
}
