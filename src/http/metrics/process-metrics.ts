import { readdirSync } from 'node:fs';
import { Counter, Gauge, type Registry } from 'prom-client';

/**
 * Metrics of the process under the names that dashboards know, read when they are asked for. prom-client's own set keeps a
 * timer of 10 ms and a performance observer running besides.
 */
export function addProcessMetrics(registry: Registry): void {
  const add = (name: string, help: string, read: () => number): void => {
    const registers = [registry];
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  const startedS = Math.round(Date.now() / 1000 - process.uptime());
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time used, user and system, in seconds.',
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  add('process_start_time_seconds', 'When the process was started, in seconds since the epoch.', () => startedS);
  add('process_resident_memory_bytes', 'Memory in RAM, in bytes.', () => process.memoryUsage.rss());
  add('nodejs_heap_size_used_bytes', 'JavaScript heap in use, in bytes.', () => process.memoryUsage().heapUsed);
  add('nodejs_external_memory_bytes', 'Memory of buffers outside of the heap, in bytes.', () => {
    return process.memoryUsage().external;
  });
  if (process.platform === 'linux') add('process_open_fds', 'Open file descriptors.', openFileDescriptors);
  new Gauge({
    name: 'nodejs_version_info',
    help: 'The version of Node.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: process.version }, 1);
}

function openFileDescriptors(): number {
  // One of them is the folder that is being read.
  return readdirSync('/proc/self/fd').length - 1;
}
