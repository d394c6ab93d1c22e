import type { DaemonFeatures, FeatureId, FeatureSupport } from '../../../domain/feature.ts';
import { Chip, type ChipTone } from './state.tsx';
import { Table } from './tables.tsx';

const TONES: Readonly<Record<FeatureSupport, ChipTone>> = {
  available: 'good',
  configurable: 'info',
  unavailable: 'none',
};

/** There are two of one kind. */
const NOTES: Readonly<Partial<Record<FeatureId, string>>> = {
  search: 'of the hosted service',
  localSearch: 'of this daemon',
};

/** Of one site; of a list each has its own. */
export function Features({ all, domain }: { readonly all: DaemonFeatures; readonly domain: string | null }) {
  const { features } = all.sites?.find((site) => site.domain === domain) ?? all;
  return (
    <Table
      id="features"
      title="Features"
      note={`in this ${all.deploymentType} deployment`}
      columns={['Feature', 'Support', 'Here', 'Why']}
      empty="There are none."
      rows={features.map(({ id, name, support, enabled, reason }) => (
        <tr id={`feature-${id}`}>
          <th scope="row">
            {name} <code>{id}</code> {NOTES[id] && <small>{NOTES[id]}</small>}
          </th>
          <td data-column="Support">
            <Chip tone={TONES[support]}>{support}</Chip>
          </td>
          <td data-column="Here">{enabled ? <strong>on</strong> : <span class="soft">off</span>}</td>
          <td data-column="Why" class="soft">
            {reason}
          </td>
        </tr>
      ))}
    />
  );
}
