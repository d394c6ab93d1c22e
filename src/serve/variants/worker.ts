import { type CallContext, serve, yieldToAll } from '../../threads/index.ts';
import { makeVariants, type VariantsOrder } from './make-variants.ts';

const handlers = {
  make: (order: VariantsOrder, context: CallContext<string>) => {
    yieldToAll();
    return makeVariants(order, (sha256) => {
      context.progress(sha256);
      // It may be the last that is told.
      context.flush();
    });
  },
};
export type VariantCalls = typeof handlers;

serve(handlers);
