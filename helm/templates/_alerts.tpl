{{/* Renders one alert: {root, name, for, severity, expr, summary}. docs/runbook.md has an entry under the name of each alert. */}}
{{- define "docshelf.alert" -}}
- alert: {{ .name }}
  expr: {{ .expr | quote }}
  for: {{ .for }}
  labels:
    severity: {{ .severity }}
    namespace: {{ .root.Release.Namespace | quote }}
    release: {{ .root.Release.Name | quote }}
  annotations:
    summary: {{ printf "%s: %s" .root.Release.Name .summary | quote }}
    runbook_url: {{ printf "%s#%s" .root.Values.prometheusRule.runbookUrl (lower .name) | quote }}
{{- end -}}

{{/*
$of selects the series of this release. Their job is the name of the release (jobLabel of the ServiceMonitor). Alerts also have this label,
because an expression that sums over pods has no other label by which Alertmanager could separate two releases in one namespace. Series of a
site have the label site if there are several sites. increase() ignores the first event of a new counter, so DocshelfBundleRefused has a second
expression.
*/}}
{{- define "docshelf.alerts" -}}
{{- $of := printf "namespace=%q,job=%q" .Release.Namespace .Release.Name -}}
{{- $site := printf "%s,component=\"site\"" $of -}}
{{- $whose := "{{ with $labels.site }} of {{ . }}{{ end }}" -}}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfDown" "for" "5m" "severity" "critical"
  "expr" (printf "absent(up{%s} == 1)" $site)
  "summary" "Prometheus cannot reach any pod of the site.") }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfNotReady" "for" "15m" "severity" "critical"
  "expr" (printf "max(docshelf_ready{%s}) == 0" $site)
  "summary" "There is no version to serve.") }}
{{- if .Values.sites }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfSiteWaiting" "for" "15m" "severity" "critical"
  "expr" (printf "min by (site) (docshelf_state{%s,state=\"waiting\"}) == 1" $site)
  "summary" (printf "There is no version%s to serve." $whose)) }}
{{- end }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfStale" "for" "30m" "severity" "warning"
  "expr" (printf "max by (pod, site) (docshelf_state{%s,state=\"stale\"}) == 1" $site)
  "summary" (printf "{{ $labels.pod }} serves an older version%s than its config requires." $whose)) }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfReloadFailed" "for" "5m" "severity" "warning"
  "expr" (printf "max by (pod) (docshelf_config_last_reload_successful{%s}) == 0" $of)
  "summary" "{{ $labels.pod }} rejected a changed config and keeps the previous one. Its next start will fail.") }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfFetchFailing" "for" "10m" "severity" "warning"
  "expr" (printf "increase(docshelf_fetches_total{%s,result=\"failed\"}[30m]) > 0 unless ignoring (result) increase(docshelf_fetches_total{%s,result=\"ok\"}[30m]) > 0" $site $site)
  "summary" (printf "{{ $labels.pod }} cannot fetch the bundle%s." $whose)) }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfBundleRefused" "for" "0m" "severity" "warning"
  "expr" (printf "increase(docshelf_bundles_taken_in_total{%s,result=\"refused\"}[15m]) > 0 or (docshelf_bundles_taken_in_total{%s,result=\"refused\"} unless docshelf_bundles_taken_in_total{%s,result=\"refused\"} offset 15m) > 0" $site $site $site)
  "summary" (printf "{{ $labels.pod }} rejected a bundle%s." $whose)) }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfVersionsDiffer" "for" "30m" "severity" "warning"
  "expr" (printf "count by (site) (count by (site, digest) (docshelf_active_version_info{%s})) > 1" $site)
  "summary" (printf "Replicas serve different bundles%s." $whose)) }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfServerErrors" "for" "10m" "severity" "warning"
  "expr" (printf "sum by (site) (rate(docshelf_http_requests_total{%s,listener!=\"admin\",class=\"5xx\"}[5m])) / sum by (site) (rate(docshelf_http_requests_total{%s,listener!=\"admin\"}[5m])) > 0.01" $of $of)
  "summary" (printf "More than 1 %% of requests%s end with a server error." (replace " of " " to " $whose))) }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfVolumeFilling" "for" "15m" "severity" "warning"
  "expr" (printf "min by (pod) (docshelf_volume_free_bytes{%s} / docshelf_volume_size_bytes{%s}) < 0.1" $of $of)
  "summary" "The volume of {{ $labels.pod }} has less than 10 % free space.") }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfCertificateEnds" "for" "1h" "severity" "warning"
  "expr" (printf "min by (setting) (docshelf_tls_certificate_expiry_timestamp_seconds{%s}) - time() < 14 * 86400" $of)
  "summary" "The certificate of {{ $labels.setting }} expires within two weeks.") }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfEventLoopLate" "for" "10m" "severity" "warning"
  "expr" (printf "max by (pod) (docshelf_event_loop_delay_seconds{%s}) > 0.5" $of)
  "summary" "The event loop of {{ $labels.pod }} is delayed by more than 0.5 s, which slows down all responses.") }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfSearchFailing" "for" "10m" "severity" "warning"
  "expr" (printf "sum by (site) (rate(docshelf_searches_total{%s,result=\"failed\"}[10m])) / sum by (site) (rate(docshelf_searches_total{%s}[10m])) > 0.05" $site $site)
  "summary" (printf "More than 5%% of the searches%s fail." $whose)) }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfSearchSlow" "for" "15m" "severity" "warning"
  "expr" (printf "histogram_quantile(0.95, sum by (pod, le) (rate(docshelf_search_duration_seconds_bucket{%s}[10m]))) > 1" $site)
  "summary" "{{ $labels.pod }} needs more than a second for 5% of the searches.") }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfVectorsWaiting" "for" "1h" "severity" "warning"
  "expr" (printf "min by (pod, site) (delta(docshelf_search_sections_waiting{%s}[1h])) >= 0 and min by (pod, site) (docshelf_search_sections_waiting{%s}) > 0" $site $site)
  "summary" (printf "{{ $labels.pod }} does not compute the vectors%s." $whose)) }}
{{- if .Values.exportApi.enabled }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfExportsFailing" "for" "0m" "severity" "warning"
  "expr" (printf "sum(increase(docshelf_export_jobs_ended_total{%s,result=\"failed\"}[1h])) > 2" $of)
  "summary" "Several exports have failed within an hour.") }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfExportsWaiting" "for" "30m" "severity" "warning"
  "expr" (printf "max(docshelf_export_jobs{%s,status=\"queued\"}) > 0 and sum(increase(docshelf_export_jobs_ended_total{%s}[30m])) == 0" $of $of)
  "summary" "Exports are waiting, but no export has ended for 30 minutes.") }}
{{- end }}
{{- end -}}
