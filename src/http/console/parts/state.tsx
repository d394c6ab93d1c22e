import type { DeployState } from '../../../domain/status.ts';

export type ChipTone = 'good' | 'warn' | 'bad' | 'info' | 'none';

export const STATES: Readonly<Record<DeployState, { readonly tone: ChipTone; readonly meaning: string }>> = {
  ready: { tone: 'good', meaning: 'What the config asks for is served.' },
  stale: { tone: 'warn', meaning: 'What the config asks for could not be had: the last good version is served.' },
  waiting: { tone: 'bad', meaning: 'No version is active yet: readers are told so.' },
  off: { tone: 'none', meaning: 'Serving is turned off by staticExport.enabled.' },
};

export function StateChip({ state }: { readonly state: DeployState }) {
  return (
    <strong class={`state ${STATES[state].tone}`} title={STATES[state].meaning}>
      {state}
    </strong>
  );
}

export function Chip({ tone, children }: { readonly tone: ChipTone; readonly children: string }) {
  return <span class={`chip ${tone}`}>{children}</span>;
}
