// Loads @xterm/headless with the unicode-graphemes add-on, as the web page does.
import headless from '@xterm/headless';

// The add-on reads its table through Node's Buffer when there is one, with the
// wrong byte offset for a pooled buffer; every astral character is then one
// column wide. A browser has no Buffer and decodes it right, so hide it.
const nodeBuffer = globalThis.Buffer;
globalThis.Buffer = undefined;
const graphemes = (await import('@xterm/addon-unicode-graphemes')).default;
globalThis.Buffer = nodeBuffer;

export function open(cols, rows) {
  const terminal = new headless.Terminal({ cols, rows, scrollback: 10000, allowProposedApi: true });
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
