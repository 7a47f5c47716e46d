// What the server says about itself: its version and the model that answers when nobody chooses another.

import { useEffect, useState } from 'react'
import { call } from '../api/client'
import type { About } from '../api/types.gen'

let asked: Promise<About> | undefined

export function about(): Promise<About> {
  asked ??= call<About>('GET', '/api/about').catch((error: unknown) => {
    asked = undefined
    throw error
  })
  return asked
}

export function useAbout(): About | undefined {
  const [known, setKnown] = useState<About>()
  useEffect(() => {
    let wanted = true
    about().then(
      (answer) => wanted && setKnown(answer),
      () => undefined,
    )
    return () => {
      wanted = false
    }
  }, [])
  return known
}

export const useServerModel = (): string | undefined => useAbout()?.model
