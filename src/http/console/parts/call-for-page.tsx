import type { Child } from 'hono/jsx';
import { type OperationId, operations } from '../../admin/operations.ts';
import { type CallInput, type ConsoleVisit, call } from '../visit.ts';
import { Said } from './said.tsx';

interface PageCall extends CallInput {
  /** To who is not signed in, where the call is for who is. */
  readonly hint?: Child;
  /** Absent: the problem's title. */
  readonly failed?: string;
}

/** @returns what the call answers; or null, the status of its problem, and what the page shows instead */
export async function callForPage<Value>(visit: ConsoleVisit, id: OperationId, { hint, failed, ...input }: PageCall) {
  const { session, root } = visit;
  if (session === null && operations[id].security !== null)
    return { value: null, status: 200, instead: <p class="card empty">{hint}</p> };
  const called = await call(visit, id, input);
  const { problem } = called;
  if (problem === null) return { value: called.value as Value, status: 200 };
  const instead = <Said root={root} message={{ text: failed ?? problem.title, problem }} />;
  return { value: null, status: problem.status, instead };
}
