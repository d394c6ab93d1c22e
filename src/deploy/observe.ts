import type { ReleaseInfo } from '../domain/release.ts';
import type { Choice, ReleaseRef, Shelf } from './plan.ts';
import type { LabelPointer, SiteStore } from './releases/site-store.ts';

/** @param sha256 of the config; the site may have it without a label @param asItHolds an operator's choice, as far as it holds */
export async function observe(
  store: SiteStore,
  sha256: string | null,
  asItHolds: (choice: Choice) => Choice,
): Promise<Shelf> {
  const labels = await store.labels();
  const active = await store.active();
  const choice = await store.choice();
  const asked = sha256 !== null && (await store.names()).has(sha256) ? sha256 : null;
  const named = [...[...labels.values()].map(({ digest }) => digest), active?.digest, choice?.digest, asked];
  const infos = new Map(
    await Promise.all(
      [...new Set(named)]
        .filter((digest) => digest != null)
        .map(async (digest) => [digest, await store.readable(digest)] as const),
    ),
  );
  // A label of a damaged release leads nowhere: its bundle is asked for again.
  const digests = new Set([...infos].flatMap(([digest, info]) => (info === null ? [] : [digest])));
  const readable = [...labels].filter(([, { digest }]) => digests.has(digest));
  return {
    labels: new Map(readable.map(([version, { digest }]) => [version, digest])),
    digests,
    active,
    activeCreatedAt: creationOf(active, labels, infos),
    choice: choice && asItHolds(choice),
  };
}

function creationOf(
  active: ReleaseRef | null,
  labels: ReadonlyMap<string, LabelPointer>,
  infos: ReadonlyMap<string, ReleaseInfo | null>,
): string | null {
  if (active === null) return null;
  const pointer = labels.get(active.version);
  const own = pointer?.digest === active.digest ? pointer.createdAt : undefined;
  return own ?? infos.get(active.digest)?.createdAt ?? null;
}
