// The entry.

import { createRoot } from 'react-dom/client'
import { App } from './app/app'
import './styles/tokens.css'
import './styles/ui.css'
import './styles/page.css'
import './styles/chat.css'
import './styles/parts.css'
import './styles/workspace.css'
import './styles/commands.css'

const root = document.getElementById('root')
if (root) createRoot(root).render(<App />)
