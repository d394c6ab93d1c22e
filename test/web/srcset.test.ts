import { describe, expect, it } from 'vitest';
import { srcsetUrls } from '../../src/web/references.ts';

describe('srcsetUrls()', () => {
  it.each([
    ['a.png', ['a.png']],
    [' a.png 1x , b.png 2x ', ['a.png', 'b.png']],
    ['a.png,b.png', ['a.png,b.png']],
    ['a.png, b.png', ['a.png', 'b.png']],
    ['a.png 1x,b.png 2x', ['a.png', 'b.png']],
    ['img,w_100.png 100w,\nimg,w_200.png 200w', ['img,w_100.png', 'img,w_200.png']],
    ['data:image/png;base64,AAA= 1x, b.png', ['data:image/png;base64,AAA=', 'b.png']],
    ['a.png (x, y) 2x, b.png', ['a.png', 'b.png']],
    [',, a.png,,,', ['a.png']],
    ['', []],
    [' , ', []],
  ])('reads from %j the URLs %j', (srcset, urls) => {
    expect(srcsetUrls(srcset)).toEqual(urls);
  });

  it('reads long invalid text quickly', () => {
    expect(srcsetUrls(`x${','.repeat(200_000)}y`).length).toBe(1);
    expect(srcsetUrls(`x ${'('.repeat(200_000)}, y`)).toEqual(['x']);
  });
});
