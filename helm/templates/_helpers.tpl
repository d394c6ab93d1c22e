{{- define "docshelf.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "docshelf.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "docshelf.labels" -}}
{{ include "docshelf.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* The Secret that holds the bundle link, or nothing. */}}
{{- define "docshelf.secret" -}}
{{- if .Values.staticExport.existingSecret -}}
{{- .Values.staticExport.existingSecret -}}
{{- else if .Values.staticExport.bundleUrl -}}
{{- include "docshelf.name" . -}}
{{- end -}}
{{- end -}}

{{/* config.yaml: the ports and folders that the pod relies on come last and win. */}}
{{- define "docshelf.config" -}}
{{- if hasKey (.Values.config.staticExport | default dict) "bundleUrl" -}}
{{- fail "config.staticExport.bundleUrl would stand in a ConfigMap for all to read: set staticExport.bundleUrl, which becomes a Secret" -}}
{{- end -}}
{{- $export := dict "enabled" .Values.staticExport.enabled -}}
{{- if .Values.staticExport.version -}}{{- $_ := set $export "version" (toString .Values.staticExport.version) -}}{{- end -}}
{{- if include "docshelf.secret" . -}}{{- $_ := set $export "bundleUrlFile" "/etc/docshelf-secret/bundleUrl" -}}{{- end -}}
{{- $deployment := dict "type" .Values.deployment.type -}}
{{- if .Values.deployment.domain -}}{{- $_ := set $deployment "domain" .Values.deployment.domain -}}{{- end -}}
{{- $pod := dict "server" (dict "host" "0.0.0.0" "port" 8080) "admin" (dict "host" "0.0.0.0" "port" 9090) "storage" (dict "dir" "/var/lib/docshelf") -}}
{{- toYaml (mergeOverwrite (dict "deployment" $deployment "staticExport" $export) (deepCopy .Values.config) $pod) -}}
{{- end -}}
