{{/*
The parts of the release, as {parts: [...]}: the site always, and the export API where it has pods of its own. "split" runs what answers calls
apart from what runs jobs.
*/}}
{{- define "docshelf.parts" -}}
parts:
  - site
  {{- if .Values.exportApi.enabled }}
  {{- if ne .Values.exportApi.pods "shared" }}
  - export
  {{- end }}
  {{- if eq .Values.exportApi.pods "split" }}
  - export-worker
  {{- end }}
  {{- end }}
{{- end -}}

{{- define "docshelf.hasOwnExports" -}}
{{- if and .Values.exportApi.enabled (ne .Values.exportApi.pods "shared") -}}true{{- end -}}
{{- end -}}

{{/* Whether the site's pods have the API listener: for search, or for exports that run in them. */}}
{{- define "docshelf.siteHasApi" -}}
{{- $search := dig "search" "enabled" true .Values.config -}}
{{- if or $search (and .Values.exportApi.enabled (eq .Values.exportApi.pods "shared")) -}}true{{- end -}}
{{- end -}}

{{/* The service behind "site", "api" and "export", as {name, port}. */}}
{{- define "docshelf.backend" -}}
{{- if eq .backend "site" -}}
{name: {{ include "docshelf.fullname" .root | quote }}, port: {{ .root.Values.service.port }}}
{{- else if and (eq .backend "export") (include "docshelf.hasOwnExports" .root) -}}
{name: {{ include "docshelf.partName" (dict "root" .root "part" "export") | quote }}, port: {{ .root.Values.service.apiPort }}}
{{- else -}}
{name: {{ include "docshelf.fullname" .root | quote }}, port: {{ .root.Values.service.apiPort }}}
{{- end -}}
{{- end -}}

{{- define "docshelf.isMany" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) -}}true{{- end -}}
{{- end -}}

{{- define "docshelf.isShared" -}}
{{- if and .Values.persistence.enabled (not .Values.persistence.perReplica) (has "ReadWriteMany" .Values.persistence.accessModes) -}}true{{- end -}}
{{- end -}}

{{- define "docshelf.hasBundles" -}}
{{- if or .Values.bundles.imageVolumes .Values.bundles.images -}}true{{- end -}}
{{- end -}}

{{- define "docshelf.hasLink" -}}
{{- if or .Values.staticExport.bundleUrl .Values.staticExport.existingSecret.name -}}true{{- end -}}
{{- end -}}

{{- define "docshelf.renews" -}}
{{- if (.Values.staticExport.renew).apiUrl -}}true{{- end -}}
{{- end -}}
