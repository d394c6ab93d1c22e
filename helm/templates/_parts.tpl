{{/*
The parts of the release, as {parts: [...]}: the site, and the export API if it has separate pods. With "split", calls and jobs run in different
pods, and each of both can have several.
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

{{/* Number and size of the pods of a part: {replicas, autoscaling, resources} of {root, part}. */}}
{{- define "docshelf.scale" -}}
{{- $exports := .root.Values.exportApi -}}
{{- $of := dict "site" .root.Values "export" $exports "export-worker" $exports.workers -}}
{{- $scale := pick (get $of .part) "replicas" "autoscaling" "resources" -}}
{{- toYaml $scale -}}
{{- end -}}

{{- define "docshelf.hasOwnExports" -}}
{{- if and .Values.exportApi.enabled (ne .Values.exportApi.pods "shared") -}}true{{- end -}}
{{- end -}}

{{/* Checks whether the pods of the site need the API listener, for search or for exports. */}}
{{- define "docshelf.siteHasApi" -}}
{{- $search := dig "search" "enabled" true .Values.config -}}
{{- if or $search (and .Values.exportApi.enabled (eq .Values.exportApi.pods "shared")) -}}true{{- end -}}
{{- end -}}

{{/* Service of the backends "site", "api" and "export", as {name, port}. */}}
{{- define "docshelf.backend" -}}
{{- if eq .backend "site" -}}
{name: {{ include "docshelf.fullname" .root | quote }}, port: {{ .root.Values.service.port }}}
{{- else if and (eq .backend "export") (include "docshelf.hasOwnExports" .root) -}}
{name: {{ include "docshelf.partName" (dict "root" .root "part" "export") | quote }}, port: {{ .root.Values.service.apiPort }}}
{{- else -}}
{name: {{ include "docshelf.fullname" .root | quote }}, port: {{ .root.Values.service.apiPort }}}
{{- end -}}
{{- end -}}

{{/* Checks whether a part can have several pods: {replicas, autoscaling}. */}}
{{- define "docshelf.hasMany" -}}
{{- if or .autoscaling.enabled (gt (int .replicas) 1) -}}true{{- end -}}
{{- end -}}

{{- define "docshelf.isMany" -}}
{{- include "docshelf.hasMany" .Values -}}
{{- end -}}

{{/* Checks whether pods can share jobs. This needs PostgreSQL for the queue, and S3 for the bundles. */}}
{{- define "docshelf.sharesJobs" -}}
{{- $hasDatabase := or (hasKey (include "docshelf.files" . | fromYaml) "database.urlFile") (dig "database" "urlFile" "" .Values.config) -}}
{{- if and $hasDatabase (eq (dig "exportApi" "store" "kind" "disk" .Values.config) "s3") -}}true{{- end -}}
{{- end -}}

{{- define "docshelf.isShared" -}}
{{- if and .Values.persistence.enabled (not .Values.persistence.perReplica) (has "ReadWriteMany" .Values.persistence.accessModes) -}}true{{- end -}}
{{- end -}}

{{/* Whether an old and a new pod of a part may run at the same time, so that an update has no gap: {root, part}. */}}
{{- define "docshelf.allowsTwoPods" -}}
{{- $values := .root.Values -}}
{{- if eq .part "site" -}}
{{- if or (not $values.persistence.enabled) $values.persistence.perReplica (include "docshelf.isShared" .root) -}}true{{- end -}}
{{- else if or (eq $values.exportApi.pods "split") (not $values.exportApi.persistence.enabled) -}}true{{- end -}}
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
