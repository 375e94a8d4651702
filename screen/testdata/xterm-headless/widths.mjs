// Prints the add-on's table: one line per run of equal code points,
// "first last width class" (class: its grapheme break value).
import { provider } from './emulator.mjs';

const p = provider();
let first = 0;
let last = '';
for (let code = 0; code <= 0x110000; code++) {
  let value = '';
  if (code < 0x110000) {
    const props = p.charProperties(code, 0);
    value = `${(props >> 1) & 3} ${(props >> 3) & 15}`;
  }
  if (code > 0 && value !== last) {
    console.log(`${first.toString(16)} ${(code - 1).toString(16)} ${last}`);
    first = code;
  }
  last = value;
}
