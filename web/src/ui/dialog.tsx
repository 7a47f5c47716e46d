// A dialog on the browser's own `<dialog>`: it traps the focus, closes with Escape and gives the focus back.

import { X } from 'lucide-react'
import { useEffect, useId, useRef, type ReactNode } from 'react'
import { useTexts } from '../i18n'

interface DialogProps {
  title: string
  open: boolean
  onClose: () => void
  children: ReactNode
  kind?: 'center' | 'sheet' | 'wide'
}

export function Dialog({ title, open, onClose, children, kind = 'center' }: DialogProps) {
  const t = useTexts()
  const place = useRef<HTMLDialogElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const titleId = useId()
  useEffect(() => {
    const dialog = place.current
    if (!dialog) return
    if (open && !dialog.open) {
      dialog.showModal()
      // The title, not the first button: a ring around it would ask to be pressed.
      heading.current?.focus()
    }
    if (!open && dialog.open) dialog.close()
  }, [open])
  return (
    <dialog
      ref={place}
      className={`dialog dialog-${kind}`}
      aria-labelledby={titleId}
      onClose={onClose}
      onMouseDown={(event) => {
        if (event.target === place.current) place.current?.close()
      }}
    >
      {open && (
        <div className="dialog-body">
          <header>
            <h2 id={titleId} ref={heading} tabIndex={-1}>
              {title}
            </h2>
            {/* No tooltip: it would take the Escape that is meant for the dialog. */}
            <button type="button" className="icon-button icon-button-small" aria-label={t.close} onClick={onClose}>
              <X size={16} />
            </button>
          </header>
          {children}
        </div>
      )}
    </dialog>
  )
}
