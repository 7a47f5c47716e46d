// A server, a model and a browser for one test file. Every page is watched: errors in the console, violations of the
// content policy and requests that leave the server fail the test that caused them.

import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { Upstream, type Script } from './upstream'

const BINARY = process.env.CONCERTINO_BINARY ?? '../target/debug/concertino'
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium'
const WAIT = 20_000

interface StageOptions {
  /** Without a script the demo model answers. */
  script?: Script
  auth?: boolean
  environment?: Record<string, string>
}

export class Stage {
  readonly complaints: string[] = []
  /** Requests to elsewhere that nobody has stopped. */
  #leaving = new Set<string>()
  #server: ChildProcess | undefined
  #data = ''
  #port = 0
  #options: StageOptions
  upstream: Upstream | undefined
  browser!: Browser

  private constructor(options: StageOptions) {
    this.#options = options
  }

  static async open(options: StageOptions = {}): Promise<Stage> {
    const stage = new Stage(options)
    stage.#data = await mkdtemp(join(tmpdir(), 'concertino-e2e-'))
    stage.#port = await freePort()
    if (options.script) stage.upstream = await Upstream.start(options.script)
    await stage.startServer()
    stage.browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
    return stage
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  async startServer(): Promise<void> {
    const model: Record<string, string> = this.upstream
      ? // A script has an answer to every message, but no names for chats.
        { OPENAI_BASE_URL: this.upstream.url, OPENAI_API_KEY: 'no-key', OPENAI_MODEL: 'script', CONCERTINO_AUTO_TITLE: 'off' }
      : { CONCERTINO_MODEL: 'demo/rules' }
    this.#server = spawn(BINARY, ['serve'], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        PATH: process.env.PATH ?? '',
        HOME: this.#data,
        CONCERTINO_LISTEN: `127.0.0.1:${this.#port}`,
        CONCERTINO_DATA_DIR: this.#data,
        CONCERTINO_AUTH: this.#options.auth ? 'token' : 'off',
        CONCERTINO_ENABLE: 'conformance',
        ...(this.#options.auth ? { CONCERTINO_TOKEN: TOKEN } : {}),
        ...model,
        ...this.#options.environment,
      },
    })
    await until(async () => (await fetch(`${this.url}/health`)).ok)
  }

  /** As a crash would end it. */
  async killServer(): Promise<void> {
    const server = this.#server
    if (!server || server.exitCode !== null) return
    const gone = new Promise((resolve) => server.once('exit', resolve))
    server.kill('SIGKILL')
    await gone
  }

  /** A page that is watched. `expected`: complaints a test causes on purpose. */
  async page(options: BrowserContextOptions = {}, expected?: RegExp): Promise<Page> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 860 }, locale: 'en-GB', ...options })
    const page = await context.newPage()
    const complain = (text: string) => {
      if (!expected?.test(text)) this.complaints.push(text)
    }
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complain(`${message.text()} ${message.location().url}`)
    })
    page.on('pageerror', (error) => complain(`page error: ${error.message}`))
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(this.url) && !/^(?:data|blob):/.test(url)) this.#leaving.add(url)
    })
    // What the policy stopped has not left.
    page.on('requestfailed', (request) => {
      if (request.failure()?.errorText === 'csp') this.#leaving.delete(request.url())
    })
    page.setDefaultTimeout(WAIT)
    return page
  }

  /** What no test may cause. */
  expectNoComplaints(): void {
    for (const url of this.#leaving) this.complaints.push(`a request left the server: ${url}`)
    this.#leaving.clear()
    expect(this.complaints.splice(0)).toEqual([])
  }

  async close(): Promise<void> {
    await this.browser?.close()
    await this.killServer()
    await this.upstream?.stop()
    await rm(this.#data, { recursive: true, force: true })
  }
}

export const TOKEN = 'e2e-token-0123456789abcdef0123456789abcdef'

export async function write(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: /^(Message|消息)$/ }).fill(text)
  await page.keyboard.press('Enter')
}

/** The answer is complete: the stop button is gone. */
export async function finished(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^(Send|发送)$/ }).waitFor()
  await page.locator('.message-agent .message-actions').last().waitFor()
}

export const answers = (page: Page) => page.locator('.message-agent')

export async function until(done: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + WAIT
  while (Date.now() < end) {
    if (await done().catch(() => false)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('it did not happen in time')
}

export function gate(): { opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => (typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port'))))
    })
  })
}
