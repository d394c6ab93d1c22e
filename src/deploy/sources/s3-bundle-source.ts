import { LINK_SCHEMES, parseS3Link, type S3Link } from '../../domain/bundle-link.ts';
import type { S3Place } from '../../domain/egress.ts';
import { DocshelfError, type ErrorCode, toDocshelfError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import type { HttpClient } from '../../net/http-client.ts';
import type { HttpResponse } from '../../net/http-response.ts';
import { type S3FaultKind, s3FaultOf } from '../../net/s3-faults.ts';
import { once } from '../../threads/once.ts';
import { type BundleSource, cannotFetch, type OpenRequest } from '../ports.ts';
import {
  CLOCKS_APART_MS,
  openOverHttp,
  RESTORE_OBJECT,
  readRefusal,
  saysEarly,
  saysExpired,
} from './http-bundle-source.ts';

/** Signs a link for each attempt to read an `s3://` object. Loads the SDK (0.13 s) on first use. */
export function s3BundleSource(client: HttpClient, place: S3Place, now: () => number = Date.now): BundleSource {
  const signer = once(async () => new (await import('../../net/s3.ts')).S3Signer(place, client));
  const sign = async (object: S3Link, link: Secret, nowMs: number): Promise<Secret> => {
    try {
      return await (await signer()).linkTo(object, nowMs);
    } catch (error) {
      if (error instanceof DocshelfError) throw error;
      throw unsigned(link, error as Error);
    }
  };
  const open = async (object: S3Link, link: Secret, request: OpenRequest, aheadMs: number) => {
    const signed = await sign(object, link, now() + aheadMs);
    request.signal.throwIfAborted();
    return openOverHttp(client, signed, request, {
      redirects: 'answer',
      refusalOf: (response) => refusalOf(response, link, now()),
    });
  };
  return {
    links: /^s3:/i,
    open: async (link, request) => {
      request.signal.throwIfAborted();
      const object = parseS3Link(link.reveal());
      if (object === null) throw notAnObject(link);
      try {
        return await open(object, link, request, 0);
      } catch (error) {
        const aheadMs = toDocshelfError(error).fields.storeAheadMs;
        if (typeof aheadMs !== 'number') throw error;
        // Sign the link again by the store's clock, as the SDK does for its own requests.
        return open(object, link, request, aheadMs);
      }
    },
  };
}

function notAnObject(link: Secret): DocshelfError {
  const next = `Write the link as ${LINK_SCHEMES.s3.form}.`;
  return cannotFetch(link, 'source_failed', 'it is not a link to an object', next);
}

const ENVIRONMENT = 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE';
const NO_CREDENTIALS = `Set ${ENVIRONMENT} in the environment of docshelf. docshelf does not use the metadata service of the machine.`;
const CHECK_CREDENTIALS = `Check ${ENVIRONMENT} in the environment of docshelf.`;

const ADVICE: Partial<Readonly<Record<S3FaultKind, readonly [code: ErrorCode, next: string]>>> = {
  credentials: ['link_refused', CHECK_CREDENTIALS],
  clock: [
    'link_refused',
    'Synchronize the clock of this machine with NTP. The store accepts a difference of at most 15 minutes.',
  ],
  no_bucket: ['bundle_not_found', 'Check the bucket in the link, and network.s3.endpoint.'],
  archived: ['source_failed', RESTORE_OBJECT],
  kms: ['link_refused', 'Allow these credentials the action kms:Decrypt for the KMS key of the object.'],
};

async function refusalOf(response: HttpResponse, link: Secret, nowMs: number): Promise<DocshelfError> {
  const { status, body, serverCode, shown, passing } = await readRefusal(response, nowMs);
  const aheadMs = Date.parse(response.header('date') ?? '') - nowMs;
  const fields = {
    status,
    ...(serverCode === null ? {} : { serverCode }),
    ...(status === 403 && Math.abs(aheadMs) > CLOCKS_APART_MS ? { storeAheadMs: aheadMs } : {}),
    ...passing,
  };
  const refusal = (code: ErrorCode, state: string, next: string): DocshelfError =>
    cannotFetch(link, code, `${state} (${shown})`, next, fields);

  // docshelf has just signed the link. If the store reports the link as expired or not yet valid, a clock is wrong.
  const isClock = status === 403 && (saysEarly(body) || saysExpired(body));
  const known = s3FaultOf(serverCode ?? '') ?? (isClock ? s3FaultOf('RequestTimeTooSkewed') : null);
  if (known?.kind === 'region' || (status >= 300 && status < 400)) {
    const region = /^[a-z0-9-]{1,64}$/.exec(response.header('x-amz-bucket-region') ?? '')?.[0];
    const next = `Set network.s3.region to ${region === undefined ? 'the region of the bucket' : `"${region}"`}. If the store is not Amazon S3, set network.s3.endpoint to its address.`;
    return refusal('source_failed', 'the bucket is in another region', next);
  }
  const advice = known && ADVICE[known.kind];
  if (advice) return refusal(advice[0], known.state, advice[1]);
  if (status === 401 || status === 403) {
    const next =
      'Check that the object exists. Allow these credentials s3:GetObject for the object, s3:ListBucket for the bucket, and kms:Decrypt for its KMS key.';
    return refusal('link_refused', 'the store denies access', next);
  }
  if (status === 404) return refusal('bundle_not_found', 'the bucket has no such object', 'Check the link.');
  return passing === null
    ? refusal('source_failed', 'the store returned an unexpected response', 'Check the link, and network.s3.endpoint.')
    : refusal('source_failed', 'the store is unavailable', 'Try again later, or check the store.');
}

/** Error for a link that docshelf could not sign. Omits the cause, which may contain headers and the access key id. */
function unsigned(link: Secret, { name, message }: Error): DocshelfError {
  if (message === 'Region is missing') {
    return cannotFetch(
      link,
      'source_failed',
      'the region of the bucket is unknown',
      'Set network.s3.region, or the environment variable AWS_REGION.',
    );
  }
  const known = s3FaultOf(name);
  if (known?.kind === 'no_credentials') return cannotFetch(link, 'link_refused', known.state, NO_CREDENTIALS);
  const code = /^[A-Za-z][A-Za-z0-9]{0,63}$/.test(name) ? name : 'unknown';
  return cannotFetch(link, 'link_refused', `docshelf got no credentials for the store (${code})`, CHECK_CREDENTIALS);
}
