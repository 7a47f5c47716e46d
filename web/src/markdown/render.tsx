// Tokens to elements. HTML in the text stays text; a link that is not a web address stays text; pictures from
// elsewhere are a link to click.

import { ImageOff } from 'lucide-react'
import type { MarkedToken, Token, Tokens } from 'marked'
import { Fragment, type ReactNode } from 'react'
import { useTexts } from '../i18n'
import { CodeBlock } from './code-block'
import type { MathToken } from './lexer'
import { hostOf, inlineImage, safeLink } from './links'
import { Formula } from './formula'

const DEEPEST = 40

export function renderBlocks(tokens: Token[], depth = 0): ReactNode {
  if (depth > DEEPEST) return rawOf(tokens)
  return tokens.map((token, at) => <Fragment key={at}>{block(token as MarkedToken | MathToken, depth)}</Fragment>)
}

function block(token: MarkedToken | MathToken, depth: number): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading':
      return <Heading depth={token.depth}>{renderInline(token.tokens, depth)}</Heading>
    case 'paragraph':
      return <p>{renderInline(token.tokens, depth)}</p>
    case 'text':
      return token.tokens ? renderInline(token.tokens, depth) : token.text
    case 'blockquote':
      return <blockquote>{renderBlocks(token.tokens, depth + 1)}</blockquote>
    case 'code':
      return <CodeBlock code={token.text} language={token.lang ?? ''} closed />
    case 'hr':
      return <hr />
    case 'list':
      return list(token, depth)
    case 'table':
      return table(token, depth)
    case 'math':
      return <Formula text={token.text} display />
    case 'html':
      return <p className="md-plain">{token.raw.trim()}</p>
    default:
      return renderInline([token], depth)
  }
}

function Heading({ depth, children }: { depth: number; children: ReactNode }) {
  // The page has its own first and second level.
  const Tag = depth <= 1 ? 'h3' : depth === 2 ? 'h4' : depth === 3 ? 'h5' : 'h6'
  return <Tag className={`md-h${Math.min(depth, 4)}`}>{children}</Tag>
}

function list(token: Tokens.List, depth: number): ReactNode {
  const items = token.items.map((item, at) => (
    <li key={at} className={item.task ? 'md-task' : undefined}>
      {item.task && <input type="checkbox" checked={item.checked === true} readOnly disabled aria-label={item.text.slice(0, 80)} />}
      {renderBlocks(item.tokens.filter((inner) => inner.type !== 'checkbox'), depth + 1)}
    </li>
  ))
  if (!token.ordered) return <ul>{items}</ul>
  return <ol start={typeof token.start === 'number' ? token.start : 1}>{items}</ol>
}

function table(token: Tokens.Table, depth: number): ReactNode {
  const cell = (Tag: 'th' | 'td', one: Tokens.TableCell, at: number) => (
    <Tag key={at} className={one.align ? `md-${one.align}` : undefined}>
      {renderInline(one.tokens, depth)}
    </Tag>
  )
  return (
    <div className="md-table" tabIndex={0}>
      <table>
        <thead>
          <tr>{token.header.map((one, at) => cell('th', one, at))}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, at) => (
            <tr key={at}>{row.map((one, column) => cell('td', one, column))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function renderInline(tokens: Token[] | undefined, depth: number): ReactNode {
  if (!tokens) return null
  if (depth > DEEPEST) return rawOf(tokens)
  return tokens.map((token, at) => <Fragment key={at}>{inline(token as MarkedToken | MathToken, depth + 1)}</Fragment>)
}

function inline(token: MarkedToken | MathToken, depth: number): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{renderInline(token.tokens, depth)}</strong>
    case 'em':
      return <em>{renderInline(token.tokens, depth)}</em>
    case 'del':
      return <del>{renderInline(token.tokens, depth)}</del>
    case 'codespan':
      return <code>{token.text}</code>
    case 'br':
      return <br />
    case 'link': {
      const href = safeLink(token.href)
      if (!href) return <span className="md-unlinked">{renderInline(token.tokens, depth)}</span>
      return (
        <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>
          {renderInline(token.tokens, depth)}
        </a>
      )
    }
    case 'image':
      return <Picture href={token.href} text={token.text} />
    case 'math':
      return <Formula text={token.text} display={token.display} />
    case 'text':
      return 'tokens' in token && token.tokens ? renderInline(token.tokens, depth) : unescape(token.text)
    case 'escape':
      return unescape(token.text)
    case 'html':
      return /^<br\s*\/?>$/i.test(token.raw) ? <br /> : token.raw
    default:
      return token.raw
  }
}

function Picture({ href, text }: { href: string; text: string }) {
  const t = useTexts()
  const own = inlineImage(href)
  if (own) return <img className="md-image" src={own} alt={text} loading="lazy" />
  const link = safeLink(href)
  return link ? (
    <a className="md-remote" href={link} target="_blank" rel="noopener noreferrer nofollow">
      <ImageOff size={14} aria-hidden />
      {text || t.remoteImage(hostOf(link))}
      {text && <span className="sr-only">{t.remoteImage(hostOf(link))}</span>}
    </a>
  ) : (
    <span className="md-remote">
      <ImageOff size={14} aria-hidden />
      {text || t.blockedImage}
    </span>
  )
}

const rawOf = (tokens: Token[]): string => tokens.map((token) => token.raw).join('')

/** The lexer escapes a few signs; React escapes again, so they are taken back. */
function unescape(text: string): string {
  return text.includes('&')
    ? text.replace(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => NAMED[name] ?? whole)
    : text
}
const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
