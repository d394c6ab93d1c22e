import { type CallContext, serve } from '../../threads/index.ts';
import { type UnpackOrder, type UnpackPhase, type UnpackSummary, unpack } from './unpack.ts';

export interface UnpackCalls {
  unpack(
    order: UnpackOrder,
    context: CallContext<{ readonly phase: UnpackPhase; readonly doneBytes: number; readonly totalBytes: number }>,
  ): Promise<UnpackSummary>;
}

serve({
  unpack: (order, { progress }) =>
    unpack(order, (phase, doneBytes, totalBytes) => progress({ phase, doneBytes, totalBytes })),
} satisfies UnpackCalls);
