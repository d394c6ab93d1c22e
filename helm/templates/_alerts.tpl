{{/*
The rules of files/alerts.yaml for this release: {root}. Their job is the name of the release (jobLabel of the ServiceMonitor). Alerts have it as a label,
because an expression that sums over pods has no other label by which Alertmanager could separate two releases in one namespace.
*/}}
{{- define "docshelf.alerts" -}}
{{- $rules := list -}}
{{- range (first (.Files.Get "files/alerts.yaml" | fromYaml).groups).rules -}}
{{- $component := .labels.component | default "" -}}
{{- if or (ne $component "export") $.Values.exportApi.enabled -}}
{{- $of := printf "namespace=%q,job=%q" $.Release.Namespace $.Release.Name -}}
{{- if eq $component "site" -}}{{- $of = printf "%s,component=\"site\"" $of -}}{{- end -}}
{{- $labels := merge (dict "namespace" $.Release.Namespace "release" $.Release.Name) .labels -}}
{{- $annotations := dict "summary" (printf "%s: %s" $.Release.Name .annotations.summary) "runbook_url" (printf "%s#%s" $.Values.prometheusRule.runbookUrl (lower .alert)) -}}
{{- $rules = append $rules (merge (dict "expr" (replace "job=\"docshelf\"" $of .expr) "labels" $labels "annotations" $annotations) .) -}}
{{- end -}}
{{- end -}}
{{- toYaml $rules -}}
{{- end -}}
