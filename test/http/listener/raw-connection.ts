import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Client that writes raw bytes and stores all that it receives. */
export class RawConnection {
  readonly socket: Socket;
  readonly #closed: Promise<unknown>;
  received = '';

  private constructor(socket: Socket) {
    this.socket = socket;
    this.#closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('data', (chunk: Buffer) => {
      this.received += chunk.toString('latin1');
    });
    // If the server cuts a connection, it ends with a reset. Tests check only the end.
    socket.on('error', () => undefined);
  }

  static async open(port: number): Promise<RawConnection> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  write(text: string): void {
    this.socket.write(text);
  }

  /** Resolves when the received text matches. Rejects after 5 s, or when the connection ends first. */
  async until(pattern: RegExp): Promise<string> {
    const signal = AbortSignal.timeout(5_000);
    while (!pattern.test(this.received)) {
      if (this.socket.destroyed) throw new Error(`closed after: ${this.received}`);
      await Promise.race([once(this.socket, 'data', { signal }), this.#closed]);
    }
    return this.received;
  }

  /** Resolves with all received text when the server has closed the connection. Rejects after 5 s. */
  async untilClosed(): Promise<string> {
    const late = new Promise((_, reject) =>
      setTimeout(reject, 5_000, new Error(`open after: ${this.received}`)).unref(),
    );
    await Promise.race([this.#closed, late]);
    return this.received;
  }
}
