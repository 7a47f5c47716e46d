// Who is signed in and who has a token, as far as this browser may know.

import { useCallback, useEffect, useState } from 'react'
import { call, path } from '../api/client'
import type { SignInInfo, SignInList, TokenInfo, TokenList } from '../api/types.gen'

export interface Access {
  signIns: readonly SignInInfo[]
  tokens: readonly TokenInfo[]
}

/** Nothing while it is not known, or when authentication is off. */
export function useAccess(): { access: Access; refresh: () => Promise<void> } {
  const [access, setAccess] = useState<Access>({ signIns: [], tokens: [] })
  const refresh = useCallback(async () => {
    const [signIns, tokens] = await Promise.all([call<SignInList>('GET', '/api/sign-ins'), call<TokenList>('GET', '/api/tokens')])
    setAccess({ signIns: signIns.signIns, tokens: tokens.tokens })
  }, [])
  useEffect(() => {
    // Without an answer the section is left out; the page says elsewhere that the server is away.
    refresh().catch(() => undefined)
  }, [refresh])
  return { access, refresh }
}

export const revokeSignIn = (id: number): Promise<void> => call('DELETE', path`/api/sign-ins/${String(id)}`)
export const revokeToken = (id: number): Promise<void> => call('DELETE', path`/api/tokens/${String(id)}`)
