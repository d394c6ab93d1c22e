import { type DestinationStream, destination, type Logger, pino, stdSerializers } from 'pino';

export type { Logger } from 'pino';

interface LogSettings {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  readonly format: 'auto' | 'json' | 'pretty';
}

export async function openLog(settings: LogSettings): Promise<Logger> {
  const isPretty = settings.format === 'pretty' || (settings.format === 'auto' && process.stdout.isTTY === true);
  const stream: DestinationStream = isPretty
    ? await prettyStream()
    : destination({ dest: 1, sync: false, minLength: 0 });
  return pino(
    {
      level: settings.level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: stdSerializers.err },
    },
    stream,
  );
}

/** A daemon in a container never needs it. */
async function prettyStream(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  const hasColour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
  return pretty({ colorize: hasColour, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname', sync: true });
}
