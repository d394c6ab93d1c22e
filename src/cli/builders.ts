import type { Config, LoadedConfig } from '../config/index.ts';
import type { DeployEvent, Deployment } from '../deploy/index.ts';
import type { BundleSource } from '../deploy/ports.ts';
import type { Diagnosis } from '../domain/diagnosis.ts';
import type { FeatureReport } from '../domain/feature.ts';
import type { ExportRequest } from '../domain/job.ts';
import type { Secret } from '../domain/secret.ts';
import type { BundleAnswer, JobAnswer } from '../domain/service-answer.ts';
import type { SearchRequest, SearchResult } from '../search/index.ts';

/**
 * What the command line needs built. `main` hands it in, so that commands depend on what is built and not on how; each
 * builder loads its modules when it is called, because `docshelf --help` needs none of them.
 */
export interface Builders {
  /** The daemon, running; it ends by `stop`. */
  startDaemon(options: {
    readonly loaded: LoadedConfig;
    readonly reload: () => Promise<LoadedConfig>;
    readonly onProgress: OnProgress;
  }): Promise<RunningDaemon>;
  /** The data folder of a config, for a command that works on it by itself. */
  openShelf(config: Config, onProgress: OnProgress): Promise<OpenShelf>;
  /** One search of a stored release, without a daemon. */
  search(
    config: Config,
    release: { readonly digest: string; readonly label: string },
    request: SearchRequest,
  ): Promise<readonly SearchResult[]>;
  featureReport(config: Config, domain: string): Promise<FeatureReport>;
  /** What holds of the machine and the network that a config needs. */
  diagnose(loaded: LoadedConfig): Promise<readonly Diagnosis[]>;
  /** The places that a link of the config may lead to. */
  openSources(config: Config): Promise<OpenSources>;
  /** The client of a static export service, which keeps to the `network` rules of the config. */
  openExportService(config: Config, at: ServiceAddress): Promise<OpenExportService>;
}

export interface ServiceAddress {
  readonly apiUrl: string;
  readonly key: Secret;
}

/** A static export service, ours or another's. Every call throws the service's refusal as a DocshelfError. */
export interface ExportService {
  start(request: ExportRequest, signal: AbortSignal): Promise<JobAnswer>;
  status(jobId: string, signal: AbortSignal): Promise<JobAnswer>;
  /** The job once it is completed. @throws DocshelfError `job_failed`, `job_timeout`. */
  wait(
    jobId: string,
    options: {
      readonly timeoutMs: number;
      readonly signal: AbortSignal;
      readonly onJob?: (job: JobAnswer) => void;
    },
  ): Promise<JobAnswer>;
  bundle(jobId: string, signal: AbortSignal): Promise<BundleAnswer>;
}

export interface OpenSources {
  readonly sources: readonly BundleSource[];
  close(): Promise<void>;
}

export interface OpenExportService {
  readonly service: ExportService;
  /** Where the service's links are fetched from: http(s) alone. */
  readonly sources: readonly BundleSource[];
  close(): Promise<void>;
}

export type OnProgress = (event: DeployEvent & { readonly kind: 'progress' }) => void;

export interface RunningDaemon {
  readonly siteUrl: string;
  readonly adminUrl: string;
  /** Null where the API listener is not open. */
  readonly apiUrl: string | null;
  /** A line in the daemon's log. */
  say(message: string): void;
  reload(): Promise<unknown>;
  stop(): Promise<void>;
}

export interface OpenShelf {
  readonly deployment: Deployment;
  close(): Promise<void>;
}
