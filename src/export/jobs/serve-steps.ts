import { type CallContext, serve } from '../../threads/index.ts';
import type { SiteCrawler } from '../ports.ts';
import type { CheckOrder, CollectOrder, DescribeOrder, OnStep, PackOrder, SweepOrder, VerifyOrder } from './orders.ts';
import { check, collect, describe, pack, sweep, verify } from './steps.ts';

type StepContext = CallContext<Parameters<OnStep>>;

/** Answers a job's steps, one at a time. @param crawler for sources that are crawled */
export function serveSteps(crawler: SiteCrawler): void {
  serve(stepsWith(crawler));
}

const stepsWith = (crawler: SiteCrawler) => ({
  collect: (order: CollectOrder, context: StepContext) => collect(order, crawler, onStep(context), context.signal),
  check: (order: CheckOrder, context: StepContext) => check(order, onStep(context), context.signal),
  verify: (order: VerifyOrder, context: StepContext) => verify(order, crawler, onStep(context), context.signal),
  describe: (order: DescribeOrder) => describe(order),
  pack: (order: PackOrder, context: StepContext) => pack(order, onStep(context), context.signal),
  sweep: (order: SweepOrder) => sweep(order, crawler),
});
export type JobSteps = ReturnType<typeof stepsWith>;

function onStep({ progress }: StepContext): OnStep {
  return (...done) => progress(done);
}
