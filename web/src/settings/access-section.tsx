// Browsers that are signed in, and tokens: listed, and revoked after a question.

import { useState } from 'react'
import type { SignInInfo, TokenInfo } from '../api/types.gen'
import { formatTime, useLanguage, useTexts } from '../i18n'
import { Button } from '../ui/button'
import { Dialog } from '../ui/dialog'
import { showToast } from '../ui/toasts'
import { revokeSignIn, revokeToken, useAccess } from './access'
import { browserName } from './browser-name'
import { Group } from './group'

type Asked = { kind: 'sign-in'; signIn: SignInInfo } | { kind: 'token'; token: TokenInfo }

export function AccessSection() {
  const t = useTexts()
  const language = useLanguage()
  const { access, refresh } = useAccess()
  const [asked, setAsked] = useState<Asked>()
  if (access.tokens.length === 0) return null
  const revoke = async (what: Asked) => {
    setAsked(undefined)
    try {
      await (what.kind === 'sign-in' ? revokeSignIn(what.signIn.id) : revokeToken(what.token.id))
      // Who has revoked themselves is shown how to sign in.
      if (isOwn(what)) location.reload()
      else await refresh()
    } catch (error) {
      showToast({ kind: 'error', text: `${t.revokeFailed} ${error instanceof Error ? error.message : ''}` })
    }
  }
  return (
    <>
      <Group title={t.signIns}>
        <p className="quiet">{t.signInsIntro}</p>
        {access.signIns.length === 0 && <p className="quiet">{t.signInsNone}</p>}
        <ul className="rows">
          {access.signIns.map((signIn) => (
            <li key={signIn.id}>
              <div>
                <strong title={signIn.userAgent}>{browserName(signIn.userAgent) || t.unknownBrowser}</strong>
                <span className="quiet">
                  {[signIn.principal, t.signedIn(formatTime(signIn.createdAt, language)), t.lastUsed(formatTime(signIn.lastUsedAt, language))].join(' · ')}
                </span>
              </div>
              <span className="row-end">
                {signIn.current && <span className="badge">{t.thisBrowser}</span>}
                <Button onClick={() => setAsked({ kind: 'sign-in', signIn })}>{signIn.current ? t.signOut : t.revoke}</Button>
              </span>
            </li>
          ))}
        </ul>
      </Group>
      <Group title={t.accessTokens}>
        <p className="quiet">{t.tokensIntro}</p>
        <ul className="rows">
          {access.tokens.map((token) => (
            <li key={token.id}>
              <div>
                <strong>{token.principal}</strong>
                <span className="quiet">{[t.tokenMade(formatTime(token.createdAt, language)), t.tokenBrowsers(token.signIns)].join(' · ')}</span>
              </div>
              <span className="row-end">
                {token.owner ? <span className="badge">{t.tokenOwner}</span> : <Button onClick={() => setAsked({ kind: 'token', token })}>{t.revoke}</Button>}
              </span>
            </li>
          ))}
        </ul>
      </Group>
      <Dialog title={asked ? titleOf(asked, t) : ''} open={asked !== undefined} onClose={() => setAsked(undefined)}>
        {asked && (
          <div className="prose">
            <p>{asked.kind === 'token' ? t.revokeTokenText : isOwn(asked) ? t.signOutText : t.revokeSignInText}</p>
            <div className="form-actions">
              <Button kind="danger" onClick={() => void revoke(asked)}>{asked.kind === 'sign-in' && isOwn(asked) ? t.signOut : t.revoke}</Button>
              <Button onClick={() => setAsked(undefined)}>{t.cancel}</Button>
            </div>
          </div>
        )}
      </Dialog>
    </>
  )
}

const isOwn = (asked: Asked): boolean => (asked.kind === 'sign-in' ? asked.signIn.current : asked.token.current)

function titleOf(asked: Asked, t: ReturnType<typeof useTexts>): string {
  if (asked.kind === 'token') return t.revokeTokenOf(asked.token.principal)
  return isOwn(asked) ? t.signOutHere : t.revokeSignInOf(browserName(asked.signIn.userAgent) || t.unknownBrowser)
}
