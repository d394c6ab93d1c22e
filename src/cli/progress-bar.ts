import type { DeployEvent } from '../deploy/index.ts';
import { printable } from '../domain/text.ts';
import { toMiB } from './table.ts';

const BAR_CELLS = 24;
const REDRAW_MS = 80;

/** On standard error; draws nothing where that is no terminal. */
export class ProgressBar {
  readonly #stream = process.stderr;
  #drawnAt = 0;
  #isShown = false;

  readonly update = ({ phase, name, doneBytes, totalBytes }: DeployEvent & { kind: 'progress' }): void => {
    const share = totalBytes === null || totalBytes === 0 ? null : doneBytes / totalBytes;
    this.draw(phase, share, `${toMiB(doneBytes)}  ${name}`);
  };

  /** @param share done, 0 to 1; null: nobody knows. */
  draw(phase: string, share: number | null, rest: string): void {
    if (this.#stream.isTTY !== true) return;
    const now = performance.now();
    if (now - this.#drawnAt < REDRAW_MS && share !== 1) return;
    this.#drawnAt = now;
    this.#isShown = true;
    const line = printable(`${phase} ${share === null ? '' : barOf(Math.min(1, share))}${rest}`);
    this.#stream.write(`\r\x1b[2K${line.slice(0, Math.max(20, (this.#stream.columns ?? 80) - 1))}`);
  }

  end(): void {
    if (this.#isShown) this.#stream.write('\r\x1b[2K');
    this.#isShown = false;
  }
}

function barOf(share: number): string {
  const filled = Math.round(share * BAR_CELLS);
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_CELLS - filled)} ${Math.floor(share * 100)} % `;
}
