/** Leads to the code's row of the manual. */
export function FaultCode({ root, code }: { readonly root: string; readonly code: string }) {
  return (
    <a href={`${root}manual/errors#${code}`}>
      <code>{code}</code>
    </a>
  );
}
