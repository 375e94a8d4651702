// Loads @xterm/headless with the unicode-graphemes add-on, as the web page does, from the
// packages of the page (web/node_modules).
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../../web/package.json', import.meta.url));
const headless = require('@xterm/headless');

// The add-on reads its table through Node's Buffer when there is one, with the
// wrong byte offset for a pooled buffer; every astral character is then one
// column wide. A browser has no Buffer and decodes it right, so hide it.
const nodeBuffer = globalThis.Buffer;
globalThis.Buffer = undefined;
const graphemes = require('@xterm/addon-unicode-graphemes');
globalThis.Buffer = nodeBuffer;

export function open(cols, rows) {
  const terminal = new headless.Terminal({
    cols, rows, scrollback: 10000, allowProposedApi: true, logLevel: 'off',
    windowOptions: { pushTitle: true, popTitle: true }, // the host keeps the title, so the page need not
  });
  terminal.loadAddon(new graphemes.UnicodeGraphemesAddon());
  return terminal;
}

export function provider() {
  const found = [];
  new graphemes.UnicodeGraphemesAddon().activate({
    unicode: { register: (p) => found.push(p), activeVersion: '6', versions: [] },
  });
  return found.find((p) => p.version === '15-graphemes');
}
