// Something goes on: four bars that play, as on the icon.

export function Spinner({ label }: { label?: string }) {
  return (
    <span className="bars" role={label ? 'status' : undefined} aria-label={label} aria-hidden={label ? undefined : true}>
      <i />
      <i />
      <i />
      <i />
    </span>
  )
}

export function Logo({ size = 20 }: { size?: number }) {
  return (
    <svg className="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden>
      <rect width="32" height="32" rx="9" fill="var(--accent)" />
      <g fill="none" stroke="var(--on-accent)" strokeLinecap="round" strokeWidth="2.6">
        <path d="M8 13v6" />
        <path d="M13.3 9.5v13" />
        <path d="M18.7 12v8" />
        <path d="M24 7.5v17" />
      </g>
    </svg>
  )
}
