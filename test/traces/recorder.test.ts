import { describe, expect, test } from 'vitest';
import { WorkQueue } from '../../src/deploy/site-loop.ts';
import { DocshelfError } from '../../src/domain/errors.ts';
import { type EndedSpan, Recorder, readTraceparent } from '../../src/traces/recorder.ts';

const CAUSE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

function recorder() {
  const ended: EndedSpan[] = [];
  const named = (name: string): EndedSpan => {
    const span = ended.find((each) => each.name === name);
    if (span === undefined) throw new Error(`no span "${name}" has ended`);
    return span;
  };
  return { tracer: new Recorder((span) => ended.push(span)), ended, named };
}

describe('readTraceparent()', () => {
  test.each([
    ['an all-zero trace', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
    ['an all-zero span', `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`],
    ['version ff', CAUSE.replace('00-', 'ff-')],
    ['more fields than version 00 has', `${CAUSE}-more`],
    ['upper-case digits', CAUSE.toUpperCase()],
    ['no text', ''],
  ])('ignores a header with %s', (_what, text) => {
    expect(readTraceparent(text)).toBeNull();
  });

  test('accepts fields of later versions, and returns whether the trace is sampled', () => {
    const later = readTraceparent(`cc${CAUSE.slice(2)}-what-the-future-brings`);
    expect(later).toMatchObject({ spanId: 'b7ad6b7169203331', isSampled: true });
    expect(readTraceparent(CAUSE.replace(/01$/, '08'))?.isSampled).toBe(false);
  });
});

describe('Recorder (of trace spans)', () => {
  test('nests a span under the span of its parent header, or under the running span if there is no such header', async () => {
    const { tracer, named } = recorder();
    let carried: string | null = null;
    await tracer.span('call', { kind: 'server', parent: CAUSE }, async () => {
      await tracer.span('step', { facts: { one: 1 } }, async (span) => span.note({ two: true }));
      carried = tracer.traceparent;
    });
    await tracer.span('elsewhere', { kind: 'consumer', parent: carried }, async () => undefined);
    const call = named('call');
    expect(call).toMatchObject({ traceId: CAUSE.slice(3, 35), parentSpanId: 'b7ad6b7169203331', error: null });
    expect(named('step')).toMatchObject({
      traceId: call.traceId,
      parentSpanId: call.spanId,
      facts: { one: 1, two: true },
    });
    expect(named('elsewhere')).toMatchObject({ traceId: call.traceId, parentSpanId: call.spanId });
    expect(tracer.traceparent).toBeNull();
  });

  test('starts a new trace if the parent header is missing or invalid', async () => {
    const { tracer, ended } = recorder();
    await tracer.span('outer', {}, () => tracer.span('own', { parent: 'x' }, async () => undefined));
    expect(new Set(ended.map(({ traceId }) => traceId)).size).toBe(2);
    expect(ended.map(({ parentSpanId }) => parentSpanId)).toEqual([null, null]);
  });

  test('records no spans of an unsampled trace, and marks its headers as unsampled', async () => {
    const { tracer, ended } = recorder();
    const flagged = await tracer.span('call', { parent: CAUSE.replace(/01$/, '00') }, async () =>
      tracer.span('step', {}, async () => tracer.traceparent),
    );
    expect(ended).toEqual([]);
    expect(flagged).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/);
  });

  test('records message and code of an error, and throws it again', async () => {
    const { tracer, named } = recorder();
    const fault = new DocshelfError('source_unreachable', 'Cannot fetch "https://x.example/": no server listens there');
    const failing = tracer.span('fetch', {}, () => Promise.reject(fault));
    await expect(failing).rejects.toBe(fault);
    expect(named('fetch')).toMatchObject({ error: fault.message, facts: { 'error.type': 'source_unreachable' } });
  });

  test('follow() moves a span into the trace of a header, but only if the span started its own trace', async () => {
    const { tracer, named } = recorder();
    await tracer.span('deploy', { parent: null }, async () => {
      tracer.follow('no context');
      tracer.follow(CAUSE);
      await tracer.span('fetch', {}, async () => tracer.follow(CAUSE.replace('b7', 'c8')));
    });
    expect(named('deploy')).toMatchObject({ traceId: CAUSE.slice(3, 35), parentSpanId: 'b7ad6b7169203331' });
    expect(named('fetch')).toMatchObject({ traceId: CAUSE.slice(3, 35), parentSpanId: named('deploy').spanId });
  });

  test('records a command of a WorkQueue in the trace of its caller, but not later work of the queue', async () => {
    const { tracer, named } = recorder();
    class Queue extends WorkQueue {
      protected override get isBusy() {
        return false;
      }
      protected override async pass() {
        while (this.hasCommand) await this.runCommand();
        await tracer.span('pass', {}, async () => undefined);
        return null;
      }
    }
    const queue = new Queue(new AbortController().signal);
    await tracer.span('deploy', {}, () => queue.runExclusive(() => tracer.span('swap', {}, async () => undefined)));
    expect(named('swap').parentSpanId).toBe(named('deploy').spanId);
    expect(named('pass').parentSpanId).toBeNull();
  });
});
