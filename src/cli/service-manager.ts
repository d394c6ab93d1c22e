import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** systemd-notify waits until its word is taken; a manager that does not listen is no reason to wait longer. */
const NOTIFY_MS_MAX = 5_000;

/**
 * Tells the service manager that started us (sd_notify(3)) how we are, where there is one. By the program, because Node has
 * no datagram sockets of the Unix kind; so the unit says `NotifyAccess=all`.
 *
 * @param state in the words of sd_notify(3): the options of systemd-notify(1) for them are younger than some hosts
 * @param onFailure is told why, where it cannot be said; nothing else comes of it
 */
export async function notifyServiceManager(
  state: 'READY=1' | 'STOPPING=1',
  status: string,
  onFailure: (reason: string) => void,
): Promise<void> {
  if ((process.env.NOTIFY_SOCKET ?? '') === '') return;
  try {
    await run('systemd-notify', [state, `STATUS=${status}`], { timeout: NOTIFY_MS_MAX });
  } catch (error) {
    onFailure(`Cannot tell the service manager "${status}": ${(error as Error).message.split('\n')[0]}`);
  }
}
