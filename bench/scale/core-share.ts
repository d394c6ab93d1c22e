import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PERIOD_US = 10_000;
/** Weight against other work on the machine, so that the process gets its share first. */
const TIMES_ITS_TURN = 16;
/** Folders of version 1, and of version 2 with one tree (cgroups(7)). */
const [V1, V2] = ['/sys/fs/cgroup/cpu', '/sys/fs/cgroup'];

/** Limits the processor time of a process and its children by cgroups, like containers. Needs root. */
export class CoreShare {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * @param pid includes all threads and later children @param cores number of cores, also a fraction. Null: no limit @throws
   * Error if this machine has no cgroups
   */
  static of(pid: number, cores: number | null): CoreShare {
    const root = existsSync(join(V1, 'cpu.cfs_quota_us')) ? V1 : V2;
    const folder = join(root, `docshelf-bench-${pid}`);
    const quotaUs = cores === null ? null : Math.round(cores * PERIOD_US);
    mkdirSync(folder);
    if (root === V1) {
      writeFileSync(join(folder, 'cpu.cfs_period_us'), String(PERIOD_US));
      writeFileSync(join(folder, 'cpu.cfs_quota_us'), String(quotaUs ?? -1));
      writeFileSync(join(folder, 'cpu.shares'), String(1024 * TIMES_ITS_TURN));
    } else {
      writeFileSync(join(folder, 'cpu.max'), `${quotaUs ?? 'max'} ${PERIOD_US}`);
      writeFileSync(join(folder, 'cpu.weight'), String(100 * TIMES_ITS_TURN));
    }
    writeFileSync(join(folder, 'cgroup.procs'), String(pid));
    return new CoreShare(folder);
  }

  /** Processes in the group continue without a limit. */
  close(): void {
    const left = readFileSync(join(this.#folder, 'cgroup.procs'), 'utf8').split('\n');
    for (const pid of left.filter((each) => each !== ''))
      writeFileSync(join(dirname(this.#folder), 'cgroup.procs'), pid);
    rmdirSync(this.#folder);
  }
}
