import { expect, it } from 'vitest';
import { type EndedSpan, Recorder } from '../../../src/traces/recorder.ts';
import { ADMIN_KEY, apiWith, post } from './api-example.ts';
import { exportsInMemory } from './exports-in-memory.ts';

const JOBS = '/v1/static-export/jobs';
const CALLER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const start = (domain: string) => post({ domain }, { Authorization: `Bearer ${ADMIN_KEY}`, traceparent: CALLER });

function tracedApi() {
  const ended: EndedSpan[] = [];
  const tracer = new Recorder((span) => ended.push(span));
  const { exports, queue } = exportsInMemory({ tracer });
  return { ...apiWith({ tracer, exports }), queue, ended };
}

it('the start call of an export and the export job continue the trace of the caller', async () => {
  const { app, ended, queue } = tracedApi();
  const { jobId } = (await (await app.request(JOBS, start('acme'))).json()) as { jobId: string };
  const [sent, call] = ended;
  expect(call).toMatchObject({ kind: 'server', parentSpanId: CALLER.slice(36, 52), traceId: CALLER.slice(3, 35) });
  expect(call?.facts).toMatchObject({ 'http.route': JOBS, 'http.response.status_code': 202 });
  expect(sent).toMatchObject({
    kind: 'producer',
    parentSpanId: call?.spanId,
    facts: { 'messaging.message.id': jobId },
  });
  expect((await queue.get(jobId))?.traceparent).toBe(`00-${call?.traceId}-${sent?.spanId}-01`);
  // Send a read-only call, which must have no span.
  await app.request(`${JOBS}/${jobId}`, { headers: { Authorization: `Bearer ${ADMIN_KEY}`, traceparent: CALLER } });
  expect(ended).toHaveLength(2);
});

it('the span of a failed call has an error, and the span of a rejected call has none', async () => {
  const { app, ended, queue } = tracedApi();
  await app.request(JOBS, start('nowhere'));
  expect(ended.at(-1)).toMatchObject({ error: null, facts: { 'http.response.status_code': 404 } });
  queue.add = () => Promise.reject(new Error('the disk burns'));
  await app.request(JOBS, start('acme'));
  expect(ended.at(-1)).toMatchObject({ error: 'the disk burns', facts: { 'http.response.status_code': 500 } });
});
