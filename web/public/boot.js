// Before the first paint: the chosen theme and language, so that nothing flashes.
try {
  const kept = JSON.parse(localStorage.getItem('concertino.preferences') ?? '{}')
  if (kept.theme === 'light' || kept.theme === 'dark') document.documentElement.dataset.theme = kept.theme
  if (kept.language === 'zh') document.documentElement.lang = 'zh-CN'
} catch {
  // Storage may be forbidden; the defaults are fine.
}
