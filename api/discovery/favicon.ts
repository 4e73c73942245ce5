// /favicon.ico: the mark of the site, drawn once: three white lines on a green square with round corners.
import type { Document } from './document.ts';

const SIZE = 32;
const GREEN = [0x4d, 0x5c, 0x0b, 0xff];
const WHITE = [0xff, 0xff, 0xff, 0xff];
const CLEAR = [0, 0, 0, 0];

/** The colour of a pixel as blue, green, red, opacity. */
function pixel(x: number, y: number): number[] {
  const radius = 6;
  const dx = Math.max(radius - x - 0.5, x + 0.5 - (SIZE - radius), 0);
  const dy = Math.max(radius - y - 0.5, y + 0.5 - (SIZE - radius), 0);
  if (Math.hypot(dx, dy) > radius) return CLEAR;
  const line = [9, 15, 21].findIndex((top) => y >= top && y < top + 3);
  return line >= 0 && x >= 8 && x < (line === 2 ? 18 : 24) ? WHITE : GREEN;
}

/** An icon file with one picture of 32 bits a pixel, rows from below, and an empty mask. */
function icon(): Uint8Array<ArrayBuffer> {
  const mask = SIZE * 4;
  const bytes = 40 + SIZE * SIZE * 4 + mask;
  const file = new DataView(new ArrayBuffer(22 + bytes));
  const little = true;
  file.setUint16(2, 1, little);
  file.setUint16(4, 1, little);
  file.setUint8(6, SIZE);
  file.setUint8(7, SIZE);
  file.setUint16(10, 1, little);
  file.setUint16(12, 32, little);
  file.setUint32(14, bytes, little);
  file.setUint32(18, 22, little);
  file.setUint32(22, 40, little);
  file.setInt32(26, SIZE, little);
  file.setInt32(30, SIZE * 2, little);
  file.setUint16(34, 1, little);
  file.setUint16(36, 32, little);
  for (let y = 0; y < SIZE; y += 1)
    for (let x = 0; x < SIZE; x += 1)
      for (const [part, value] of pixel(x, SIZE - 1 - y).entries())
        file.setUint8(62 + (y * SIZE + x) * 4 + part, value);
  return new Uint8Array(file.buffer);
}

let drawn: Uint8Array<ArrayBuffer> | undefined;

export const favicon: Document = {
  path: '/favicon.ico',
  title: 'Icon',
  rel: 'icon',
  content_type: 'image/x-icon',
  text: () => (drawn ??= icon()),
};
