// Reads one JSON job per line on stdin, answers one JSON line each.
// Job: {cols, rows, steps: [{data: base64} | {resize: [cols, rows]}]}.
// Answer: {rows, scrollback, cursor, alt, cells?}.
import { createInterface } from 'node:readline';
import { open } from './emulator.mjs';

// xterm.js throws on a few inputs, from a timer: that job is answered with
// {failed}.
let fail = () => {};
process.on('uncaughtException', (error) => fail(error));

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  const terminal = open(job.cols, job.rows);
  let failed;
  for (const step of job.steps) {
    if (step.resize) {
      terminal.resize(step.resize[0], step.resize[1]);
    } else {
      const bytes = new Uint8Array(Buffer.from(step.data, 'base64'));
      failed = await new Promise((done) => {
        fail = done;
        terminal.write(bytes, () => done());
      });
      if (failed) break;
    }
  }
  if (failed) {
    process.stdout.write(JSON.stringify({ failed: String(failed) }) + '\n');
    continue;
  }
  const buffer = terminal.buffer.active;
  const text = (y) => {
    const row = buffer.getLine(y);
    let out = '';
    for (let x = 0; x < terminal.cols; x++) {
      const cell = row.getCell(x);
      if (cell.getWidth() > 0) out += cell.getChars() || ' ';
    }
    return out.replace(/ +$/, '');
  };
  const style = (cell) => {
    const color = (isDefault, isRGB, value) => (isDefault ? '-' : (isRGB ? '#' : '') + value);
    let flags = '';
    if (cell.isBold()) flags += 'b';
    if (cell.isDim()) flags += 'd';
    if (cell.isItalic()) flags += 'i';
    if (cell.isUnderline()) flags += 'u';
    if (cell.isBlink()) flags += 'k';
    if (cell.isInverse()) flags += 'r';
    if (cell.isInvisible()) flags += 'h';
    if (cell.isStrikethrough()) flags += 's';
    if (cell.isOverline()) flags += 'o';
    return [
      color(cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor()),
      color(cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor()),
      flags,
    ].join(' ');
  };
  const answer = {
    rows: [], styles: [], wrapped: [], scrollback: [],
    cursor: [buffer.cursorX, buffer.cursorY], alt: buffer.type === 'alternate',
    modes: terminal.modes,
  };
  for (let y = 0; y < terminal.rows; y++) {
    answer.rows.push(text(buffer.baseY + y));
    const row = buffer.getLine(buffer.baseY + y);
    answer.wrapped.push(row.isWrapped);
    const styles = [];
    for (let x = 0; x < terminal.cols; x++) styles.push(style(row.getCell(x)));
    answer.styles.push(styles);
  }
  if (job.scrollback) for (let y = 0; y < buffer.baseY; y++) answer.scrollback.push(text(y));
  terminal.dispose();
  process.stdout.write(JSON.stringify(answer) + '\n');
}
