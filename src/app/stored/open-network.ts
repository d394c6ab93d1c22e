import { hostname } from 'node:os';
import type { Config } from '../../config/index.ts';
import { dataPaths, runningDaemons } from '../../deploy/index.ts';
import { ifThere } from '../../files/index.ts';
import { Network } from '../network.ts';

/** Of one command: what it asks is no listener of a daemon on its data folder. */
export async function openNetwork(config: Config): Promise<Network> {
  const network = new Network(config);
  const daemons = (await ifThere(runningDaemons(dataPaths(config.storage.dir)))) ?? [];
  network.useOwnPorts(daemons.flatMap(({ owner, ports }) => (owner.host === hostname() ? ports : [])));
  return network;
}
