// What any part of the page may ask of the page as a whole.

import { createContext, useContext } from 'react'

export interface PageActions {
  newChat: () => void
  openSidebar: () => void
  showShortcuts: () => void
  switchTheme: () => void
  switchLanguage: () => void
  modifier: string
}

const nothing = () => undefined

export const PageContext = createContext<PageActions>({
  newChat: nothing,
  openSidebar: nothing,
  showShortcuts: nothing,
  switchTheme: nothing,
  switchLanguage: nothing,
  modifier: 'Ctrl',
})
export const usePage = (): PageActions => useContext(PageContext)
