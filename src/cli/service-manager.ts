import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** systemd-notify waits until its word is taken. */
const NOTIFY_MS_MAX = 5_000;

/**
 * Notifies the service manager, if any, in the words of sd_notify(3): the options of systemd-notify(1) are younger than some
 * hosts. By that program, since Node has no Unix datagram sockets; so the unit says `NotifyAccess=all`.
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
