// A mark for a family of models: its first letter on a colour of its own. No vendor's drawing is used.

const HUES: Record<string, number> = { claude: 25, gpt: 160, gemini: 220, deepseek: 245, qwen: 265, kimi: 200, llama: 210, mistral: 35, grok: 0, glm: 190, demo: 262 }

export function FamilyIcon({ family }: { family: string }) {
  const key = Object.keys(HUES).find((name) => family.toLowerCase().startsWith(name))
  const hue = key ? HUES[key] : [...family].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 360, 7)
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden className="family">
      <rect width="20" height="20" rx="6" fill={`hsl(${hue} 45% 48%)`} />
      <text x="10" y="14" textAnchor="middle" fontSize="11" fontWeight="650" fill="#fff">
        {(family.charAt(0) || '?').toUpperCase()}
      </text>
    </svg>
  )
}
