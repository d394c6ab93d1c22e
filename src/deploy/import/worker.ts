import { type CallContext, serve } from '../../threads/index.ts';
import { type UnpackProgress, type UnpackRequest, unpack } from './unpack.ts';

const calls = {
  unpack: (request: UnpackRequest, { progress }: CallContext<UnpackProgress>) => unpack(request, progress),
};
export type UnpackCalls = typeof calls;

serve(calls);
