import { describe, expect, test } from 'vitest';
import { DocshelfError } from '../../src/domain/errors.ts';
import { type EndedSpan, type SendSpans, SpanSender } from '../../src/traces/recorder.ts';
import { untilAborted } from '../helpers/until-aborted.ts';
import { waitFor } from '../helpers/wait-for.ts';

const span = (name: string) => ({ name }) as EndedSpan;
const answered = (status: number) => ({ status, retryAfterMs: null });
const away = () => Promise.reject(new DocshelfError('source_unreachable', 'no server listens there'));

/** A collector that sends each of these responses once, and then accepts all spans. */
function sender(...answers: SendSpans[]) {
  const received: string[][] = [];
  const reported: string[] = [];
  const sending = new SpanSender({
    send: async (spans, signal) => {
      const answer = (await answers.shift()?.(spans, signal)) ?? answered(200);
      if (answer.status === 200) received.push(spans.map(({ name }) => name));
      return answer;
    },
    onAway: ({ message }) => reported.push(message),
    onBack: (lost) => reported.push(`back, ${lost} lost`),
    everyMs: 1,
  });
  const until = (requests: number) =>
    waitFor(
      async () => (received.length >= requests ? received : null),
      () => `${received.length} of ${requests} requests`,
    );
  return { sending, received, reported, until };
}

describe('SpanSender (sender of trace spans to a collector)', () => {
  test('keeps spans while the collector is unavailable or busy, and sends them when the collector is available', async () => {
    const { sending, reported, until } = sender(away, away, async () => answered(503));
    sending.add(span('one'));
    sending.add(span('two'));
    expect(await until(1)).toEqual([['one', 'two']]);
    expect(reported).toEqual(['Cannot send traces: no server listens there', 'back, 0 lost']);
    await sending.stop();
  });

  test('drops spans that the collector rejects permanently', async () => {
    const { sending, reported, until } = sender(async () => answered(401));
    sending.add(span('one'));
    await waitFor(
      async () => (reported.length > 0 ? true : null),
      () => 'nothing told',
    );
    sending.add(span('two'));
    expect(await until(1)).toEqual([['two']]);
    expect(reported).toEqual(['Cannot send traces: the collector responds with 401', 'back, 1 lost']);
    await sending.stop();
  });

  test('keeps a limited number of spans, and sends at most 512 at once', async () => {
    const { sending, received, reported } = sender(away);
    for (let each = 0; each < 5_000; each += 1) sending.add(span(String(each)));
    await waitFor(
      async () => (reported.length === 2 ? true : null),
      () => reported.join(),
    );
    await sending.stop();
    expect(received.map(({ length }) => length)).toEqual(Array(8).fill(512));
    expect(reported[1]).toBe('back, 904 lost');
  });

  test('stop() sends the waiting spans, and discards them if the collector does not respond', async () => {
    const well = sender();
    well.sending.add(span('last'));
    await well.sending.stop();
    expect(well.received).toEqual([['last']]);

    const hanging = sender((_spans, signal) => untilAborted(signal));
    hanging.sending.add(span('lost'));
    await hanging.sending.stop();
    expect(hanging.received).toEqual([]);
    expect(hanging.reported).toEqual(['Cannot send traces: the collector does not respond in time']);
  });
});
