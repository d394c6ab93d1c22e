import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { newFolder } from '../helpers/new-folder.ts';
import { fetchHelm, only, templateWith } from './chart.ts';
import { firing, HAS_PROMTOOL, type Series, SHIPPED_ALERTS } from './promtool.ts';

const ofChart = join(newFolder(), 'chart.yaml');
beforeAll(() => {
  fetchHelm();
  const { groups } = only(templateWith('prometheusRule.enabled=true', 'exportApi.enabled=true'), 'PrometheusRule').spec;
  writeFileSync(ofChart, stringify({ groups }));
}, 120_000);

/** Series that make an alert fire at a time, and series of the same metric that do not. */
const CASES: Readonly<Record<string, { at: string; step?: string; fires: Series; quiet: Series }>> = {
  DocshelfDown: { at: '10m', fires: { up: '0x60' }, quiet: { up: '1x60' } },
  DocshelfNotReady: { at: '20m', fires: { docshelf_ready: '0x60' }, quiet: { docshelf_ready: '1x60' } },
  DocshelfSiteWaiting: {
    at: '20m',
    fires: { 'docshelf_state{site="acme",state="waiting"}': '1x60' },
    quiet: { 'docshelf_state{state="waiting"}': '1x60', 'docshelf_state{site="acme",state="waiting"}': '0x60' },
  },
  DocshelfStale: {
    at: '40m',
    fires: { 'docshelf_state{state="stale"}': '1x60' },
    quiet: { 'docshelf_state{state="stale"}': '0x60' },
  },
  DocshelfReloadFailed: {
    at: '10m',
    fires: { docshelf_config_last_reload_successful: '0x60' },
    quiet: { docshelf_config_last_reload_successful: '1x60' },
  },
  // The link is invalid at the start: the counter is 1 at the first scrape, and stays.
  DocshelfFetchFailing: {
    at: '15m',
    fires: { docshelf_fetch_failing: '1x60', 'docshelf_fetches_total{result="failed"}': '1x60' },
    quiet: { docshelf_fetch_failing: '0x60', 'docshelf_fetches_total{result="failed"}': '1x60' },
  },
  // The counter begins with its first event.
  DocshelfBundleRefused: {
    at: '20m',
    fires: { 'docshelf_bundles_taken_in_total{result="refused"}': '_x17 1x60' },
    quiet: { 'docshelf_bundles_taken_in_total{result="refused"}': '1x60' },
  },
  DocshelfVersionsDiffer: {
    at: '40m',
    fires: {
      'docshelf_active_version_info{digest="a"}': '1x60',
      'docshelf_active_version_info{digest="b",instance="10.0.0.2:9090",pod="docshelf-2"}': '1x60',
    },
    quiet: {
      'docshelf_active_version_info{digest="a"}': '1x60',
      'docshelf_active_version_info{digest="a",instance="10.0.0.2:9090",pod="docshelf-2"}': '1x60',
    },
  },
  DocshelfServerErrors: {
    at: '20m',
    fires: {
      'docshelf_http_requests_total{listener="site",class="5xx"}': '0+2x60',
      'docshelf_http_requests_total{listener="site",class="2xx"}': '0+98x60',
    },
    quiet: {
      'docshelf_http_requests_total{listener="admin",class="5xx"}': '0+50x60',
      'docshelf_http_requests_total{listener="site",class="2xx"}': '0+98x60',
    },
  },
  DocshelfDependencyDown: {
    at: '10m',
    fires: { 'docshelf_dependency_up{dependency="database"}': '0x60' },
    quiet: { 'docshelf_dependency_up{dependency="database"}': '1x60' },
  },
  DocshelfVolumeFilling: {
    at: '20m',
    fires: { docshelf_volume_free_bytes: '9x60', docshelf_volume_size_bytes: '100x60' },
    quiet: { docshelf_volume_free_bytes: '11x60', docshelf_volume_size_bytes: '100x60' },
  },
  DocshelfCertificateEnds: {
    at: '90m',
    fires: { 'docshelf_tls_certificate_expiry_timestamp_seconds{setting="server.tls.certFile"}': '86400x120' },
    quiet: { 'docshelf_tls_certificate_expiry_timestamp_seconds{setting="server.tls.certFile"}': '2592000x120' },
  },
  DocshelfEventLoopLate: {
    at: '15m',
    fires: { docshelf_event_loop_delay_seconds: '0.6x60' },
    quiet: { docshelf_event_loop_delay_seconds: '0.1x60' },
  },
  DocshelfSearchFailing: {
    at: '30m',
    fires: {
      'docshelf_searches_total{result="failed"}': '0+10x60',
      'docshelf_searches_total{result="found"}': '0+90x60',
    },
    quiet: {
      'docshelf_searches_total{result="failed"}': '0+1x60',
      'docshelf_searches_total{result="found"}': '0+99x60',
    },
  },
  DocshelfSearchSlow: {
    at: '30m',
    fires: {
      'docshelf_search_duration_seconds_bucket{le="1"}': '0+9x60',
      'docshelf_search_duration_seconds_bucket{le="5"}': '0+10x60',
      'docshelf_search_duration_seconds_bucket{le="+Inf"}': '0+10x60',
    },
    quiet: {
      'docshelf_search_duration_seconds_bucket{le="1"}': '0+10x60',
      'docshelf_search_duration_seconds_bucket{le="5"}': '0+10x60',
      'docshelf_search_duration_seconds_bucket{le="+Inf"}': '0+10x60',
    },
  },
  DocshelfSearchWithoutResults: {
    at: '8h',
    step: '10m',
    fires: {
      'docshelf_searches_total{result="none"}': '0+10x60',
      'docshelf_searches_total{result="found"}': '0+5x60',
    },
    quiet: {
      'docshelf_searches_total{result="none"}': '0+1x60',
      'docshelf_searches_total{result="found"}': '0+0x60',
    },
  },
  DocshelfSearchIndexMissing: {
    at: '40m',
    fires: { docshelf_search_sections_waiting: '0x60' },
    quiet: { docshelf_search_sections_waiting: '0x60', docshelf_search_index_built_timestamp_seconds: '1x60' },
  },
  DocshelfVectorsWaiting: {
    at: '3h',
    fires: { docshelf_search_sections_waiting: '40x240' },
    quiet: { docshelf_search_sections_waiting: '400-1x240' },
  },
  // A nightly export of one site that fails each night, next to a hundred sites whose exports succeed.
  DocshelfExportsFailing: {
    at: '47h',
    step: '1h',
    fires: {
      'docshelf_export_jobs_ended_total{site="acme",result="failed"}': '0x10 1x24 2x17',
      'docshelf_export_jobs_ended_total{site="beta",result="completed"}': '0x10 100x24 200x17',
    },
    quiet: {
      'docshelf_export_jobs_ended_total{site="acme",result="failed"}': '0x10 1x41',
      'docshelf_export_jobs_ended_total{site="beta",result="failed"}': '0x34 1x17',
      'docshelf_export_jobs_ended_total{site="beta",result="completed"}': '0x10 100x24 200x17',
    },
  },
  DocshelfExportsWaiting: {
    at: '70m',
    fires: {
      'docshelf_export_jobs{status="queued"}': '2x120',
      'docshelf_export_jobs_ended_total{result="failed"}': '0x120',
    },
    quiet: {
      'docshelf_export_jobs{status="queued"}': '2x120',
      'docshelf_export_jobs_ended_total{result="completed"}': '0+1x120',
    },
  },
};

describe.skipIf(!HAS_PROMTOOL)('alerts', () => {
  it.each(Object.entries(CASES))('fire only under their condition: %s', (name, { fires, quiet, ...times }) => {
    for (const rules of [SHIPPED_ALERTS, ofChart]) {
      expect(firing({ rules, series: fires, ...times })).toContain(name);
      expect(firing({ rules, series: quiet, ...times })).not.toContain(name);
    }
  });

  it('are each covered by a case of this test', () => {
    const { groups } = parse(readFileSync(SHIPPED_ALERTS, 'utf8'));
    expect(groups[0].rules.map(({ alert }: { alert: string }) => alert).sort()).toEqual(Object.keys(CASES).sort());
  });
});

describe('alerts for Prometheus without the Prometheus Operator', () => {
  it('are equal to the alerts of the chart, except for the selectors and labels of a Helm release', () => {
    const plain = parse(readFileSync(SHIPPED_ALERTS, 'utf8')).groups[0].rules;
    const rendered = parse(readFileSync(ofChart, 'utf8')).groups[0].rules;
    const withoutRelease = rendered.map((rule: Record<string, unknown>) => {
      const { namespace: _, release: __, ...labels } = rule.labels as Record<string, string>;
      const { summary = '', runbook_url } = rule.annotations as Record<string, string>;
      const expr = String(rule.expr).replace(
        /namespace="docs",job="docshelf"(?:,component="site")?/g,
        'job="docshelf"',
      );
      return { ...rule, expr, labels, annotations: { summary: summary.replace(/^docshelf: /, ''), runbook_url } };
    });
    expect(withoutRelease).toEqual(plain);
  });
});
