import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const PERIOD_US = 10_000;
/** Of other work on the machine: up to its bound it is served first. */
const TIMES_ITS_TURN = 16;
/** Of version 1, and the one tree of version 2 (cgroups(7)). */
const [V1, V2] = ['/sys/fs/cgroup/cpu', '/sys/fs/cgroup'];

/** A bound in processor time for a process and those that it starts, as containers have it: by the kernel's groups, which only root makes. */
export class CoreShare {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param pid with all its threads, and what it starts from then on @param cores a part of one, or some; null: no bound @throws where this machine gives none */
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

  /** What runs in it still runs on without a bound. */
  close(): void {
    const left = readFileSync(join(this.#folder, 'cgroup.procs'), 'utf8').split('\n');
    for (const pid of left.filter((each) => each !== ''))
      writeFileSync(join(dirname(this.#folder), 'cgroup.procs'), pid);
    rmdirSync(this.#folder);
  }
}
