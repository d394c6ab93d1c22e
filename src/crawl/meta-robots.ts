const NO_FOLLOW = /(?:^|[\s,])(?:nofollow|none)(?:$|[\s,])/i;

/** Whether what robots are told forbids to follow links: the value of an `X-Robots-Tag` or of a meta. */
export function saysNoFollow(directives: string): boolean {
  return NO_FOLLOW.test(directives);
}
