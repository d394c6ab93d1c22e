import { type CallContext, serve } from '../../threads/index.ts';
import { type UnpackPhase, type UnpackRequest, type UnpackSummary, unpack } from './unpack.ts';

export interface UnpackCalls {
  unpack(
    request: UnpackRequest,
    context: CallContext<{ readonly phase: UnpackPhase; readonly doneBytes: number; readonly totalBytes: number }>,
  ): Promise<UnpackSummary>;
}

serve({
  unpack: (request, { progress }) =>
    unpack(request, (phase, doneBytes, totalBytes) => progress({ phase, doneBytes, totalBytes })),
} satisfies UnpackCalls);
