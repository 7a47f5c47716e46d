// Addresses of the page: a handful, so no library.

import { useSyncExternalStore } from 'react'

export type Route =
  | { page: 'start'; agent?: string }
  | { page: 'chat'; id: string; agent?: string }
  | { page: 'agents'; name?: string; copy?: string }
  | { page: 'usage' }
  | { page: 'settings' }
  | { page: 'missing' }

const listeners = new Set<() => void>()
let seen = location.pathname + location.search
let route = routeOf(seen)

export function routeOf(address: string): Route {
  const url = new URL(address, 'http://page')
  let words: string[]
  try {
    words = url.pathname.split('/').filter(Boolean).map(decodeURIComponent)
  } catch {
    return { page: 'missing' }
  }
  const [first, second, ...rest] = words
  const asked = url.searchParams.get('agent')
  if (first === undefined) return { page: 'start', ...(asked ? { agent: asked } : {}) }
  if (rest.length > 0) return { page: 'missing' }
  if (first === 'c' && second) {
    return { page: 'chat', id: second, ...(asked ? { agent: asked } : {}) }
  }
  if (first === 'agents') {
    const copy = url.searchParams.get('new')
    return { page: 'agents', ...(second ? { name: second } : copy !== null ? { copy } : {}) }
  }
  if (first === 'usage' && !second) return { page: 'usage' }
  if (first === 'settings' && !second) return { page: 'settings' }
  return { page: 'missing' }
}

export function addressOf(route: Route): string {
  switch (route.page) {
    case 'start':
      return route.agent ? `/?agent=${encodeURIComponent(route.agent)}` : '/'
    case 'missing':
      return '/'
    case 'chat':
      return `/c/${encodeURIComponent(route.id)}${route.agent ? `?agent=${encodeURIComponent(route.agent)}` : ''}`
    case 'agents':
      if (route.copy !== undefined) return `/agents?new=${encodeURIComponent(route.copy)}`
      return route.name ? `/agents/${encodeURIComponent(route.name)}` : '/agents'
    case 'usage':
      return '/usage'
    case 'settings':
      return '/settings'
  }
}

function look() {
  const address = location.pathname + location.search
  if (address === seen) return
  seen = address
  route = routeOf(address)
  for (const listener of listeners) listener()
}

window.addEventListener('popstate', look)

export function go(to: Route, how: 'push' | 'replace' = 'push'): void {
  const address = addressOf(to)
  if (address === seen) return
  if (how === 'replace') history.replaceState(null, '', address)
  else history.pushState(null, '', address)
  look()
}

export function useRoute(): Route {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => route,
  )
}
