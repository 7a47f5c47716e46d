import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { dataText } from '../chat/parts/file-preview'
import { everyDay } from '../usage/report'
import { LARGEST_PREVIEW, PreviewFrame, previewKind } from './preview-frame'

afterEach(cleanup)

describe('the frame for generated content', () => {
  it('hands its text to the frame alone, once the frame is ready, and believes only a height from it', () => {
    render(<PreviewFrame kind="html" text="<b>hi</b>" name="html" />)
    const frame = screen.getByTitle('Preview of html') as HTMLIFrameElement
    expect(frame.getAttribute('sandbox')).toBe('allow-scripts')
    const inside = { postMessage: vi.fn() }
    Object.defineProperty(frame, 'contentWindow', { value: inside })
    const say = (source: unknown, data: unknown) => fireEvent(window, new MessageEvent('message', { source: source as Window, data }))
    say({}, { ready: true })
    expect(inside.postMessage).not.toHaveBeenCalled()
    say(inside, { ready: true })
    expect(inside.postMessage).toHaveBeenCalledExactlyOnceWith({ kind: 'html', text: '<b>hi</b>' }, '*')
    say(inside, { height: 9e9 })
    expect(frame.style.height).toBe('640px')
    say(inside, { height: 'none' })
    say(inside, null)
    expect(frame.style.height).toBe('640px')
  })

  it('does not take what is too large', () => {
    render(<PreviewFrame kind="html" text={'x'.repeat(LARGEST_PREVIEW + 1)} name="html" />)
    expect(screen.queryByTitle('Preview of html')).toBeNull()
    expect(screen.getByText(/Too large/)).toBeTruthy()
  })

  it('knows what can be shown', () => {
    expect(['html', 'HTML', 'text/html; charset=utf-8', 'svg', 'image/svg+xml', 'js', 'text/plain', ''].map(previewKind)).toEqual(['html', 'html', 'html', 'svg', 'svg', undefined, undefined, undefined])
  })

  it('reads data addresses, packed and plain', () => {
    expect(dataText(`data:text/html;base64,${btoa(String.fromCharCode(...new TextEncoder().encode('<b>中</b>')))}`)).toBe('<b>中</b>')
    expect(dataText('data:text/html,%3Cb%3E')).toBe('<b>')
  })
})

describe('days', () => {
  it('are all there, also over the end of a month and in summer time', () => {
    expect(everyDay('2026-03-02', 4)).toEqual(['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02'])
    expect(everyDay('2026-03-30', 3)).toEqual(['2026-03-28', '2026-03-29', '2026-03-30'])
  })
})
