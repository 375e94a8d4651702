// Reads one JSON job per line on stdin, answers one JSON line each.
// Job: {cols, rows, steps: [{data: base64} | {resize: [cols, rows]} | {check: true}]}.
// Answer: {checks: [state, ...]}, one for each check, in order, or {failed}.
//
// A line of a state is a string: of each cell its text (a blank is a space, the second half
// of a wide character U+0001), before it U+0002 style U+0002 where the style changes. A style
// is "foreground background flags underline underline-colour link".
import { createInterface } from 'node:readline';
import { open } from './emulator.mjs';

// xterm.js throws on a few inputs, from a timer: that job is answered with {failed}.
let fail = () => {};
process.on('uncaughtException', (error) => fail(error));

const DEFAULT = '- -  0 - ';
const UNDERLINE = 0x10000000;
const EXTENDED = 0x10000000;

const color = (value) => {
  switch ((value >>> 24) & 3) {
    case 0:
      return '-';
    case 3:
      return '#' + (value & 0xffffff);
    default:
      return '' + (value & 0xff);
  }
};

const style = (cell, links) => {
  let flags = '';
  if (cell.isBold()) flags += 'b';
  if (cell.isDim()) flags += 'd';
  if (cell.isItalic()) flags += 'i';
  if (cell.isBlink()) flags += 'k';
  if (cell.isInverse()) flags += 'r';
  if (cell.isInvisible()) flags += 'h';
  if (cell.isStrikethrough()) flags += 's';
  if (cell.isOverline()) flags += 'o';
  const extended = cell.bg & EXTENDED ? cell.extended : undefined;
  const underline = cell.fg & UNDERLINE ? (extended && (extended._ext >>> 26) & 7) || 1 : 0;
  // SGR 59 is white there.
  const underlineColor = underline && extended && extended.underlineColor !== 0x3ffffff ? color(extended.underlineColor) : '-';
  const link = (extended && extended.urlId && links.get(extended.urlId)) || '';
  return `${color(cell.fg)} ${color(cell.bg)} ${flags} ${underline} ${underlineColor} ${link}`;
};

const state = (terminal, counts, links) => {
  const core = terminal._core;
  const scratch = terminal.buffer.active.getNullCell();
  const lines = (buffer, from, to) => {
    const out = [];
    for (let y = from; y < to; y++) {
      const line = buffer.getLine(y);
      let text = '';
      let before = DEFAULT;
      let fg = 0;
      let bg = 0;
      for (let x = 0; x < terminal.cols; x++) {
        const cell = line.getCell(x, scratch);
        if (cell.getWidth() === 0) {
          text += '\u0001';
          continue;
        }
        if (cell.fg !== fg || cell.bg !== bg || cell.bg & EXTENDED) {
          fg = cell.fg;
          bg = cell.bg;
          const now = style(cell, links);
          if (now !== before) text += '\u0002' + now + '\u0002';
          before = now;
        }
        text += cell.getChars() || ' ';
      }
      out.push({ text, wrapped: line.isWrapped });
    }
    return out;
  };
  const { active, normal } = terminal.buffer;
  const alternate = active.type === 'alternate';
  const modes = core.coreService.decPrivateModes;
  const mouse = core.coreMouseService ?? core._coreMouseService;
  return {
    rows: lines(active, active.baseY, active.baseY + terminal.rows),
    scrollback: lines(normal, 0, normal.baseY),
    below: alternate ? lines(normal, normal.baseY, normal.baseY + terminal.rows) : [],
    cursor: [active.cursorX, active.cursorY],
    alternate,
    ...counts,
    modes: {
      ...terminal.modes,
      cursorHidden: core.coreService.isCursorHidden,
      cursorStyle: modes.cursorStyle ?? '',
      mouseEncoding: mouse.activeEncoding,
    },
  };
};

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  const terminal = open(job.cols, job.rows);
  const counts = { title: '', bells: 0, replies: '' };
  terminal.onTitleChange((title) => (counts.title = title));
  terminal.onBell(() => counts.bells++);
  terminal.onData((data) => (counts.replies += data));
  // xterm.js forgets a link when its first line goes.
  const links = new Map();
  const service = terminal._core._oscLinkService;
  const register = service.registerLink.bind(service);
  service.registerLink = (data) => {
    const id = register(data);
    links.set(id, data.uri);
    return id;
  };
  const checks = [];
  let failed;
  for (const step of job.steps) {
    if (step.resize) {
      terminal.resize(step.resize[0], step.resize[1]);
    } else if (step.check) {
      checks.push(state(terminal, counts, links));
    } else {
      const bytes = new Uint8Array(Buffer.from(step.data, 'base64'));
      failed = await new Promise((done) => {
        fail = done;
        terminal.write(bytes, () => done());
      });
      if (failed) break;
    }
  }
  terminal.dispose();
  process.stdout.write(JSON.stringify(failed ? { failed: String(failed) } : { checks }) + '\n');
}
