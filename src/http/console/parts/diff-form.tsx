import type { SiteStatusReport } from '../../../domain/status.ts';
import { siteAddress } from '../addresses.ts';
import type { ConsoleVisit } from '../visit.ts';

interface DiffFormProps {
  readonly visit: ConsoleVisit;
  readonly site: SiteStatusReport;
  /** Chosen before; else from the active version to the newest, or to that from the one before it. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Chooses two versions to compare. Nothing where nobody is signed in: it reads pages that may have readers of their own. */
export function DiffForm({ visit, site, ...chosen }: DiffFormProps) {
  const labels = site.versions.map(({ version }) => version);
  if (visit.session === null || labels.length < 2) return null;
  const [newest, former] = labels;
  const active = site.active?.version ?? newest;
  const from = chosen.from ?? (active === newest ? former : active);
  const to = chosen.to ?? newest;
  return (
    <form method="get" action={`${visit.root}${siteAddress(site.deployment.domain)}/diff`} class="card pair" id="diff">
      <Labels name="from" title="Compare version" labels={labels} chosen={from} />
      <Labels name="to" title="with version" labels={labels} chosen={to} />
      <button type="submit">Compare</button>
    </form>
  );
}

interface LabelsProps {
  readonly name: string;
  readonly title: string;
  readonly labels: readonly string[];
  readonly chosen: string | undefined;
}

function Labels({ name, title, labels, chosen }: LabelsProps) {
  return (
    <div>
      <label for={`diff-${name}`}>{title}</label>
      <select id={`diff-${name}`} name={name}>
        {labels.map((label) => (
          <option value={label} selected={label === chosen}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}
