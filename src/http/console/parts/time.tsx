import { agoInWords, timeInWords } from './wording.ts';

export function Time({ at }: { readonly at: string }) {
  return <time datetime={at}>{timeInWords(at)}</time>;
}

export function TimeAgo({ at, now }: { readonly at: string; readonly now: Date }) {
  return (
    <>
      <Time at={at} /> <small class="ago">{agoInWords(at, now)}</small>
    </>
  );
}
