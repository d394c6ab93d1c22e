{{/* One alert: {root, name, for, severity, expr, summary}; each has an entry in docs/runbook.md under its name. */}}
{{- define "docshelf.alert" -}}
- alert: {{ .name }}
  expr: {{ .expr | quote }}
  for: {{ .for }}
  labels:
    severity: {{ .severity }}
  annotations:
    summary: {{ .summary | quote }}
    runbook_url: {{ printf "%s#%s" .root.Values.prometheusRule.runbookUrl (lower .name) | quote }}
{{- end -}}

{{/*
$of picks the series of this release; the job of all of them is the release's name (jobLabel of the ServiceMonitor). A counter that begins with its
first event has no increase for it, hence the second half of DocshelfBundleRefused.
*/}}
{{- define "docshelf.alerts" -}}
{{- $of := printf "namespace=%q,job=%q" .Release.Namespace .Release.Name -}}
{{- $site := printf "%s,component=\"site\"" $of -}}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfDown" "for" "5m" "severity" "critical"
  "expr" (printf "absent(up{%s} == 1)" $site)
  "summary" "No pod of the documentation site answers Prometheus.") }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfNotReady" "for" "15m" "severity" "critical"
  "expr" (printf "max(docshelf_ready{%s}) == 0" $site)
  "summary" "The documentation site has no version to serve.") }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfStale" "for" "30m" "severity" "warning"
  "expr" (printf "max by (pod) (docshelf_state{%s,state=\"stale\"}) == 1" $site)
  "summary" "{{ $labels.pod }} serves an older version than its config asks for.") }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfReloadFailed" "for" "5m" "severity" "warning"
  "expr" (printf "max by (pod) (docshelf_config_last_reload_successful{%s}) == 0" $of)
  "summary" "{{ $labels.pod }} refused a changed config and goes on with the one before; it will not come up with it.") }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfFetchFailing" "for" "10m" "severity" "warning"
  "expr" (printf "increase(docshelf_fetches_total{%s,result=\"failed\"}[30m]) > 0 unless ignoring (result) increase(docshelf_fetches_total{%s,result=\"ok\"}[30m]) > 0" $site $site)
  "summary" "{{ $labels.pod }} cannot fetch its bundle.") }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfBundleRefused" "for" "0m" "severity" "warning"
  "expr" (printf "increase(docshelf_bundles_taken_in_total{%s,result=\"refused\"}[15m]) > 0 or (docshelf_bundles_taken_in_total{%s,result=\"refused\"} unless docshelf_bundles_taken_in_total{%s,result=\"refused\"} offset 15m) > 0" $site $site $site)
  "summary" "{{ $labels.pod }} refused a bundle.") }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfVersionsDiffer" "for" "30m" "severity" "warning"
  "expr" (printf "count(count by (digest) (docshelf_active_version_info{%s})) > 1" $site)
  "summary" "Replicas of the documentation site serve different bundles.") }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfServerErrors" "for" "10m" "severity" "warning"
  "expr" (printf "sum(rate(docshelf_http_requests_total{%s,listener!=\"admin\",class=\"5xx\"}[5m])) / sum(rate(docshelf_http_requests_total{%s,listener!=\"admin\"}[5m])) > 0.01" $of $of)
  "summary" "More than one request in a hundred is answered with a fault of the server.") }}
{{- if .Values.exportApi.enabled }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfExportsFailing" "for" "0m" "severity" "warning"
  "expr" (printf "sum(increase(docshelf_export_jobs_ended_total{%s,result=\"failed\"}[1h])) > 2" $of)
  "summary" "Several exports have failed within an hour.") }}
{{ include "docshelf.alert" (dict "root" . "name" "DocshelfExportsWaiting" "for" "30m" "severity" "warning"
  "expr" (printf "max(docshelf_export_jobs{%s,status=\"queued\"}) > 0 and sum(increase(docshelf_export_jobs_ended_total{%s}[30m])) == 0" $of $of)
  "summary" "Exports wait, and none has ended for half an hour.") }}
{{- end }}
{{- end -}}
