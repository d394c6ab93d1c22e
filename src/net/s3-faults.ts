export type S3FaultKind =
  | 'credentials'
  | 'no_credentials'
  | 'clock'
  | 'no_bucket'
  | 'region'
  | 'archived'
  | 'kms'
  | 'upload'
  | 'bytes';

/** Error codes that an operator can act on, from the API reference of S3. Compatible services use similar codes. */
const FAULTS: readonly (readonly [codes: RegExp, kind: S3FaultKind, state: string])[] = [
  [
    /^(?:InvalidAccessKeyId|SignatureDoesNotMatch|InvalidToken|ExpiredToken|TokenRefreshRequired)$/,
    'credentials',
    'the store does not accept the credentials',
  ],
  [/^CredentialsProviderError$/, 'no_credentials', 'docshelf found no credentials for the store'],
  [/^(?:RequestTimeTooSkewed|RequestExpired)$/, 'clock', 'the clocks of this machine and the store differ too much'],
  [/^NoSuchBucket$/, 'no_bucket', 'the bucket does not exist'],
  [
    /^(?:PermanentRedirect|TemporaryRedirect|AuthorizationHeaderMalformed|AuthorizationQueryParametersError|IllegalLocationConstraintException)$/,
    'region',
    'the bucket is in another region',
  ],
  [
    /^(?:InvalidObjectState|BlobArchived|BlobBeingRehydrated|NotRestored)$/,
    'archived',
    'the object is in an archive class, and must be restored first',
  ],
  [/^KMS\./, 'kms', 'the store cannot use its KMS key'],
  [/^NoSuchUpload$/, 'upload', 'the store or another process has ended the upload'],
  [
    /^(?:BadDigest|InvalidDigest|XAmzContentSHA256Mismatch|XAmzContentChecksumMismatch)$/,
    'bytes',
    'the store received other bytes than docshelf sent, and rejected them',
  ],
];

export function s3FaultOf(code: string) {
  const found = FAULTS.find(([codes]) => codes.test(code));
  return found === undefined ? null : { kind: found[1], state: found[2] };
}
